package io.dbsemaphore.persistence.waiting;

import io.dbsemaphore.domain.InstanceQueue;
import io.dbsemaphore.domain.LocalQueue;
import io.dbsemaphore.domain.LocalQueues;
import io.dbsemaphore.domain.LockedSemaphore;
import io.dbsemaphore.domain.WaitersElsewhere;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The queues of all instances for the semaphores of one transaction, whose rows it has locked. A semaphore that nobody waits for
 * costs no statement: its row says until when callers may be waiting.
 */
public final class BatchQueues {

    /** How long a row counts without being confirmed; an instance that is gone delays the others for this time. */
    static final Duration VALID_FOR = Duration.ofMillis(1_200);

    /** How long callers are assumed to wait at a semaphore. */
    private static final Duration AWAITED_FOR = Duration.ofSeconds(10);

    /** An instance that waits alone updates its row when it is valid for less than this. */
    private static final Duration MIN_VALID = Duration.ofMillis(600);

    private final WaiterRepository rows;
    private final LocalQueues local;
    private final Set<Long> found = new HashSet<>();
    private final FoundQueues queues;
    private Supplier<List<InstanceQueue>> expected = List::of;
    private boolean isRead;

    BatchQueues(WaiterRepository rows, LocalQueues local) {
        this.rows = rows;
        this.local = local;
        this.queues = new FoundQueues(local.instance());
    }

    /**
     * Queues the query for the semaphores that callers of this instance wait for or have waited for, so that it shares a round
     * trip with other statements.
     *
     * @param semaphores the names by id
     * @param refusedBefore the semaphores of acquires that were refused before
     */
    public void expect(Map<Long, String> semaphores, Set<String> refusedBefore) {
        Set<Long> awaited = new HashSet<>();
        semaphores.forEach((id, name) -> {
            if (local.isFair(name)
                    && (refusedBefore.contains(name) || !local.of(name).isEmpty())) {
                awaited.add(id);
            }
        });
        if (!awaited.isEmpty()) {
            expected = rows.queueFind(awaited);
            found.addAll(awaited);
        }
    }

    /**
     * Reads what {@link #expect} did not, where callers may be waiting, unless it was read before.
     *
     * @param now the database's clock when the held permits were summed
     */
    public void read(List<LockedSemaphore> locked, Function<LockedSemaphore, LocalDateTime> now) {
        if (isRead) {
            return;
        }
        isRead = true;
        queues.add(expected.get());
        Set<Long> more = new HashSet<>();
        locked.forEach(semaphore -> {
            if (local.isFair(semaphore.name())
                    && !found.contains(semaphore.id())
                    && semaphore.mayBeAwaited(now.apply(semaphore))) {
                more.add(semaphore.id());
            }
        });
        find(more);
    }

    private void find(Collection<Long> semaphoreIds) {
        if (!semaphoreIds.isEmpty()) {
            queues.add(rows.find(semaphoreIds));
            found.addAll(semaphoreIds);
        }
    }

    public WaitersElsewhere elsewhere(LockedSemaphore semaphore, LocalDateTime now) {
        return queues.elsewhere(semaphore.id(), now);
    }

    /**
     * Queues the statements that tell other instances who waits here after this transaction.
     *
     * @param queue the callers of this instance that wait for the semaphore, those that the transaction refuses included
     */
    public void write(LockedSemaphore semaphore, LocalDateTime now, LocalQueue queue) {
        if (!local.isFair(semaphore.name())) {
            return;
        }
        if (!queue.isEmpty() && !found.contains(semaphore.id())) {
            find(List.of(semaphore.id()));
        }
        Optional<InstanceQueue> own = queues.own(semaphore.id());
        LocalDateTime expiresAt = now.plus(VALID_FOR);
        if (queue.isEmpty()) {
            own.ifPresent(row -> rows.queueDelete(semaphore.id(), local.instance()));
        } else if (own.isEmpty()) {
            rows.queueInsert(semaphore.id(), local, queue, expiresAt);
        } else if (isWorthWriting(semaphore, now, own.get(), queue)) {
            rows.queueUpdate(semaphore.id(), local.instance(), queue, expiresAt);
        }
        if (!queue.isEmpty() && isExtensionDue(semaphore.waitersUntil(), now)) {
            rows.queueAwaited(List.of(semaphore.id()), awaitedUntil(now));
        }
    }

    /** While no other instance has waiting callers, nobody reads the row. */
    private boolean isWorthWriting(LockedSemaphore semaphore, LocalDateTime now, InstanceQueue own, LocalQueue queue) {
        return !own.isValidFor(MIN_VALID, now)
                || (!own.first().equals(queue.first())
                        && !elsewhere(semaphore, now).isEmpty());
    }

    /** Whether the time until which callers are assumed to wait has to be extended. */
    static boolean isExtensionDue(@Nullable LocalDateTime until, LocalDateTime now) {
        return until == null || until.isBefore(now.plus(AWAITED_FOR.dividedBy(2)));
    }

    /** Until when callers that wait now are assumed to wait. */
    static LocalDateTime awaitedUntil(LocalDateTime now) {
        return now.plus(AWAITED_FOR);
    }
}
