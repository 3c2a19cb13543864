package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.line.OwnLines;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * The releases and acquires of one transaction, from the moment they are taken from the {@link WorkQueue} until the batch is settled.
 * Releases come first.
 *
 * @param isOfReleases whether it has releases only. In other batches releases are piggy-backed: their permits count as available from
 *     their submission on
 * @param members the acquires of the batch, in the order in which they are decided
 * @param names the names of all semaphores that the members acquire
 * @param awaited the semaphores whose row locks the transaction waits for; for a lone release, those whose permits it waits for
 * @param startedAt this JVM's monotonic clock when the batch was taken from the queue
 * @param changes the changes of availability since then, by semaphore
 */
record Batch(
        boolean isOfReleases,
        List<Acquire> members,
        List<Release> releases,
        Set<String> names,
        Set<String> awaited,
        OwnLines queues,
        long startedAt,
        Map<String, Long> changes) {

    /** A batch that takes longer than this is stalled: acquires that it blocks no longer reserve their turn. */
    private static final long STALLED_AFTER = Duration.ofMillis(250).toNanos();

    /** Whether the transaction may block on a row lock. */
    boolean awaitsRow() {
        return !awaited.isEmpty();
    }

    /** The input of the transaction. */
    GrantBatch forTransaction() {
        return new GrantBatch(List.copyOf(members), awaited, Release.permitIds(releases), queues);
    }

    boolean isStalled(long now) {
        return nanosToStall(now) <= 0;
    }

    /** The time until it is stalled; 0 or less if it is. */
    long nanosToStall(long now) {
        return startedAt + STALLED_AFTER + 1 - now;
    }

    /** Whether no other batch of this semaphore may begin. */
    boolean blocks(String name, long now) {
        return awaited.isEmpty() || awaited.contains(name) || !isStalled(now);
    }

    /** Records that availability changed by this number of permits: the transaction may have read it before. */
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
