package io.dbsemaphore.persistence;

import io.dbsemaphore.jdbc.StatementQueue.Result;
import java.util.Collection;
import java.util.List;
import java.util.Set;

/**
 * A fragment of {@link PermitRequestRepository}: statements whose text depends on how many rows they are for. What is queued
 * is executed by the next round trip of the transaction, the commit at the latest.
 */
interface PermitRequestStatements {

    /** Queues the inserts. */
    void insertAll(List<PermitRequest> requests);

    /** Locks those of these requests that are held and that no other transaction has locked, and returns their ids. */
    Set<Long> lockFree(Collection<Long> ids);

    /** Queues the release of those of these requests that are held. Its result is how many that were. */
    Result<Integer> queueRelease(Collection<Long> ids);

    /**
     * Queues the renewal, to now + their time to live, of those of these requests that are held and not expired; it never
     * shortens. Its result is how many that were.
     */
    Result<Integer> queueRenewal(Collection<Long> ids);

    /** Queues a write to those of these requests that are held, so that a cluster that certifies writes sees a conflict. */
    void queueTouch(Collection<Long> ids);
}
