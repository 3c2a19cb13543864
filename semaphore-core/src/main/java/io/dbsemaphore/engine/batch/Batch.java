package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.LocalQueues;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The acquires that one transaction decides, and the releases that it executes before, from the moment they are taken from the
 * {@link WorkQueue} until it is settled. Guarded by the lock of the queue.
 */
final class Batch {

    /** A batch that takes longer than this is stalled: acquires that it blocks do not reserve their turn any more. */
    private static final long STALLED_AFTER = Duration.ofMillis(250).toNanos();

    private final boolean ofReleases;
    private final List<Acquire> members;
    private final List<Release> releases = new ArrayList<>();
    private final Set<String> names;
    private final Set<String> awaited;
    private final LocalQueues queues;
    private final long startedAt;
    private final Map<String, Long> changes = new HashMap<>();

    Batch(
            boolean ofReleases,
            List<Acquire> members,
            Set<String> names,
            Set<String> awaited,
            LocalQueues queues,
            long startedAt) {
        this.ofReleases = ofReleases;
        this.members = members;
        this.names = names;
        this.awaited = awaited;
        this.queues = queues;
        this.startedAt = startedAt;
    }

    /** Whether it is of releases only. In other batches releases are piggy-backed: their permits count as available since they came. */
    boolean isOfReleases() {
        return ofReleases;
    }

    /** The acquires of the batch, in the order in which they are decided. */
    List<Acquire> members() {
        return members;
    }

    List<Release> releases() {
        return releases;
    }

    /** The names of all semaphores that the members acquire. */
    Set<String> names() {
        return names;
    }

    /** The semaphores whose row locks the transaction waits for; for a lone release, those whose permits it waits for. */
    Set<String> awaited() {
        return awaited;
    }

    /** Whether the transaction may block on a row lock. */
    boolean isWaiting() {
        return !awaited.isEmpty();
    }

    /** This JVM's monotonic clock when the batch was taken from the queue. */
    long startedAt() {
        return startedAt;
    }

    /** The input of the transaction. */
    GrantBatch forTransaction() {
        return new GrantBatch(List.copyOf(members), awaited, Release.permitIds(releases), queues);
    }

    boolean isStalled(long now) {
        return nanosToStall(now) <= 0;
    }

    /** The time until it is stalled; not positive if it is. */
    long nanosToStall(long now) {
        return startedAt + STALLED_AFTER + 1 - now;
    }

    /** Whether no other batch may begin for one of its names. */
    boolean keeps(String name, long now) {
        return awaited.isEmpty() || awaited.contains(name) || !isStalled(now);
    }

    /** Records that availability changed by this number of permits, which the transaction may have read before. */
    void changed(String name, long permits) {
        if (names.contains(name)) {
            changes.merge(name, permits, Long::sum);
        }
    }

    /** The change of availability since the batch began. */
    long changeOf(String name) {
        return changes.getOrDefault(name, 0L);
    }
}
