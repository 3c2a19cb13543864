package io.dbsemaphore.persistence;

import io.dbsemaphore.jdbc.StatementQueue.Result;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * A fragment of {@link PermitRequestRepository}: statements whose text depends on the number of rows. Queued statements are
 * executed by the next round trip of the transaction, at the latest by its commit.
 */
interface PermitRequestStatements {

    /** Queues the inserts. */
    void insertAll(List<PermitRequest> requests);

    /**
     * Waits for transactions that have inserted or locked this external id: queues the insert of a row with it, and its
     * deletion. Inserting is the only way to find a row that is not committed, on every database.
     */
    void queueWaitForExternalId(PermitRequest row);

    /** Locks the held requests among these that no other transaction has locked, and returns their ids. */
    Set<Long> lockSkipLocked(Collection<Long> ids);

    /** Queues the release of the held requests among these. The result is their number. */
    Result<Integer> queueRelease(Collection<Long> ids);

    /**
     * Queues the renewal of the requests among these that are held and not expired, to now + their time to live; it never
     * shortens a lease. The result is their number.
     */
    Result<Integer> queueRenewal(Collection<Long> ids);

    /** Queues a write to the held requests among these, so that a cluster that certifies writes detects a conflict. */
    void queueTouch(Collection<Long> ids);
}
