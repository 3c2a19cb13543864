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

    /**
     * Executes the queued statements. To be called before a query of Hibernate if the transaction is to survive their failure: a
     * failure within the query would mark it for rollback.
     */
    void sendQueued();

    void insertAll(List<PermitRequest> requests);

    /**
     * On InnoDB, queues a locking read that waits for transactions that have inserted or locked this external id. It locks less
     * than an insert, which blocks all inserts into the gap before a duplicate while it waits for it. On other databases such a
     * read does not find a row that is not committed, so nothing is queued.
     */
    void queueLockOfExternalId(String externalId);

    /**
     * Queues statements that wait for transactions that have inserted or locked this external id: on InnoDB
     * {@linkplain #queueLockOfExternalId a locking read}, on other databases the insert of a row, which is deleted again.
     *
     * @param row supplies the row where it is needed
     */
    void queueWaitForExternalId(String externalId, Supplier<PermitRequest> row);

    /** Locks the held requests among these that no other transaction has locked, and returns their ids. */
    Set<Long> lockSkipLocked(Collection<Long> ids);

    /** Queues the release of the held requests among these. The result is their number. */
    Supplier<Integer> queueRelease(Collection<Long> ids);

    /** Whether {@link #queueReleaseSkipLocked} is supported. */
    boolean releasesSkipLocked();

    /**
     * Queues one statement that locks those of the held permits that no other transaction has locked, and releases those of the
     * held requests that have no others. The result are the ids of the requests.
     *
     * @param permitIds the permits of all these requests
     */
    Supplier<Set<Long>> queueReleaseSkipLocked(Collection<Long> ids, Collection<Long> permitIds);

    /**
     * Queues the renewal of the requests among these that are held and not expired, to now + their time to live; it never
     * shortens a lease. The result is their number.
     */
    Supplier<Integer> queueRenewal(Collection<Long> ids);

    /** Queues a write to the held requests among these, so that a cluster that certifies writes detects a conflict. */
    void queueTouch(Collection<Long> ids);
}
