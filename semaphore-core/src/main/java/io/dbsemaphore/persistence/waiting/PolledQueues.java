package io.dbsemaphore.persistence.waiting;

import io.dbsemaphore.domain.LocalQueue;
import io.dbsemaphore.domain.LocalQueues;
import io.dbsemaphore.domain.WaitersElsewhere;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The queues of all instances as a poll sees them, without the lock of a semaphore's row. The poll confirms the rows of its
 * instance, and updates them where the queue has changed; only a {@linkplain BatchQueues batch}, which has locked the semaphore's
 * row, inserts one.
 */
public final class PolledQueues {

    /** A poll confirms rows that are valid for less than this. */
    private static final Duration MIN_VALID = Duration.ofMillis(900);

    private final WaiterRepository rows;
    private final LocalQueues local;
    private final SortedMap<Long, String> namesById = new TreeMap<>();
    private final FoundQueues queues;

    private PolledQueues(WaiterRepository rows, Map<String, Long> ids, LocalQueues local) {
        this.rows = rows;
        ids.forEach((name, id) -> namesById.put(id, name));
        this.local = local;
        this.queues = new FoundQueues(local.instance());
    }

    /** Reads the rows of the fair ones among these semaphores, which are given with their ids. */
    static PolledQueues read(WaiterRepository rows, Map<String, Long> ids, LocalQueues local) {
        PolledQueues read = new PolledQueues(rows, ids, local);
        List<Long> fair =
                ids.keySet().stream().filter(local::isFair).map(ids::get).toList();
        if (!fair.isEmpty()) {
            read.queues.add(rows.find(fair));
        }
        return read;
    }

    public WaitersElsewhere elsewhere(long semaphoreId, LocalDateTime now) {
        return queues.elsewhere(semaphoreId, now);
    }

    /** Whether the other instances know of the callers of this one, if there are any. */
    public boolean isRegistered(String name, long semaphoreId) {
        return !local.isFair(name)
                || local.of(name).isEmpty()
                || queues.own(semaphoreId).isPresent();
    }

    public boolean isExtensionDue(String name, @Nullable LocalDateTime until, LocalDateTime now) {
        return local.isFair(name) && !local.of(name).isEmpty() && BatchQueues.isExtensionDue(until, now);
    }

    /**
     * Updates and confirms the rows of this instance. It skips unchanged rows that another transaction has locked.
     *
     * @param inFlight the semaphores whose rows are only confirmed, since a batch in flight updates them
     */
    public void confirm(LocalDateTime now, Set<String> inFlight) {
        List<Long> unchanged = new ArrayList<>();
        LocalDateTime expiresAt = now.plus(BatchQueues.VALID_FOR);
        namesById.forEach((id, name) -> queues.own(id).ifPresent(row -> {
            LocalQueue queue = local.of(name);
            if (queue.isEmpty() && !inFlight.contains(name)) {
                rows.queueDelete(id, local.instance());
            } else if (!row.first().equals(queue.first()) && !inFlight.contains(name)) {
                rows.queueUpdate(id, local.instance(), queue, expiresAt);
            } else if (!row.isValidFor(MIN_VALID, now)) {
                if (row.size() == queue.size() || inFlight.contains(name)) {
                    unchanged.add(id);
                } else {
                    rows.queueUpdate(id, local.instance(), queue, expiresAt);
                }
            }
        }));
        if (!unchanged.isEmpty()) {
            confirm(unchanged, expiresAt);
        }
    }

    private void confirm(List<Long> semaphoreIds, LocalDateTime expiresAt) {
        List<Long> locked = rows.lockSkipLocked(local.instance(), semaphoreIds).stream()
                .map(row -> row.key().semaphoreId())
                .toList();
        if (!locked.isEmpty()) {
            rows.confirm(local.instance(), locked, expiresAt);
        }
    }
}
