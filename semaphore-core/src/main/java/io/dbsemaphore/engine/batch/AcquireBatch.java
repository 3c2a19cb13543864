package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.LocalQueues;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.stream.Collectors;

/**
 * The acquires that one transaction decides.
 *
 * @param members in the order of the queue
 * @param names of all semaphores that the members acquire
 * @param awaited the semaphores whose row locks the transaction waits for
 * @param queues the callers of this JVM that wait for these semaphores
 * @param inFlight the registration of the names
 * @param startedAt this JVM's monotonic clock when the batch was taken from the queue
 */
record AcquireBatch(
        List<Acquire> members,
        Set<String> names,
        Set<String> awaited,
        LocalQueues queues,
        InFlightNames.Registration inFlight,
        long startedAt) {

    /** Whether the transaction may block on a row lock. */
    boolean isWaiting() {
        return !awaited.isEmpty() || awaitsExternalId(members);
    }

    /** Whether the transaction waits for the external id of its only member, before it locks a semaphore. */
    static boolean awaitsExternalId(List<Acquire> members) {
        return members.size() == 1 && members.get(0).isExternalIdLocked();
    }

    /** The members that may have waited for their external ids, if the transaction has waited for a lock without success. */
    Set<Acquire> mayAwaitExternalIds() {
        return members.stream()
                .filter(AcquireBatch::mayAwaitExternalId)
                .collect(Collectors.toSet());
    }

    /** Whether the transaction may have waited for the external id: it was awaited before, or is written and may exist already. */
    private static boolean mayAwaitExternalId(Acquire acquire) {
        return acquire.isExternalIdLocked()
                || (acquire.isClaimed() && (acquire.command().externalIdGiven() || acquire.isOutcomeUnknown()));
    }

    GrantBatch grants(SortedMap<Long, List<Long>> releases) {
        return new GrantBatch(List.copyOf(members), awaited, releases, queues);
    }
}
