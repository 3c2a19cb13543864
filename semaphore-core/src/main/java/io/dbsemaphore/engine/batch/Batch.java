package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.LocalQueues;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The acquires that one transaction decides, and the releases that it executes before, from the moment they are taken from the
 * {@link WorkQueue} until it is settled. Guarded by the lock of the queue.
 *
 * @param isOfReleases whether it is of releases only. In other batches releases are piggy-backed: their permits count as available
 *     since they came
 * @param members the acquires of the batch, in the order in which they are decided
 * @param names the names of all semaphores that the members acquire
 * @param awaited the semaphores whose row locks the transaction waits for; for a lone release, those whose permits it waits for
 * @param startedAt this JVM's monotonic clock when the batch was taken from the queue
 * @param changes of availability since then, by semaphore
 */
record Batch(
        boolean isOfReleases,
        List<Acquire> members,
        List<Release> releases,
        Set<String> names,
        Set<String> awaited,
        LocalQueues queues,
        long startedAt,
        Map<String, Long> changes) {

    /** A batch that takes longer than this is stalled: acquires that it blocks do not reserve their turn any more. */
    private static final long STALLED_AFTER = Duration.ofMillis(250).toNanos();

    /** Whether the transaction may block on a row lock. */
    boolean isWaiting() {
        return !awaited.isEmpty();
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
