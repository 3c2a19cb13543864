package io.dbsemaphore.persistence;

import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.Supplier;

/**
 * A fragment of {@link PermitRequestRepository}: statements whose text depends on the number of rows. Queued statements are
 * executed by the next round trip of the transaction, at the latest by its commit.
 */
interface PermitRequestStatements {

    void insertAll(List<PermitRequest> requests);

    /**
     * Queues statements that wait for transactions that have inserted or locked this external id. On most databases only the
     * insert of a row with it finds a row that is not committed; that row is deleted again. On InnoDB a locking read finds it,
     * and locks less: an insert that waits for a duplicate blocks all inserts into the gap before it.
     *
     * @param row supplies the row where it is needed
     */
    void queueWaitForExternalId(String externalId, Supplier<PermitRequest> row);

    /** Locks the held requests among these that no other transaction has locked, and returns their ids. */
    Set<Long> lockSkipLocked(Collection<Long> ids);

    /** Queues the release of the held requests among these. The result is their number. */
    Supplier<Integer> queueRelease(Collection<Long> ids);

    /**
     * Queues the renewal of the requests among these that are held and not expired, to now + their time to live; it never
     * shortens a lease. The result is their number.
     */
    Supplier<Integer> queueRenewal(Collection<Long> ids);

    /** Queues a write to the held requests among these, so that a cluster that certifies writes detects a conflict. */
    void queueTouch(Collection<Long> ids);
}
