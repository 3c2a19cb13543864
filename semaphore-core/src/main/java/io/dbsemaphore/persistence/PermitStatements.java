package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.HeldSum;
import io.dbsemaphore.jdbc.StatementQueue.Result;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;

/**
 * A fragment of {@link PermitRepository}: statements whose text depends on how many rows they are for. What is queued is
 * executed by the next round trip of the transaction, the commit at the latest.
 */
interface PermitStatements {

    /**
     * Executes what is queued, and reads what is held of each of these semaphores, by id, and the database's clock. This is
     * a statement of its own, after the locks: a sum within the locking statement would be as old as the beginning of its
     * wait. It reads the covering index from the low watermark of each semaphore on: what was released while a transaction
     * keeps an old snapshot open stays in the index, below the watermark.
     */
    Map<Long, HeldSum> sumHeld(Collection<Long> semaphoreIds);

    /** Queues the inserts. */
    void insertAll(List<Permit> permits);

    /** Locks those of these permits that are held and that no other transaction has locked, and returns their ids. */
    Set<Long> lockFree(Collection<Long> ids);

    /**
     * Queues a lock of those of these permits that are held; it {@linkplain io.dbsemaphore.jdbc.SqlErrors#isLockRefused
     * fails} at once when another transaction has locked one of them. Its result is their ids.
     */
    Result<Set<Long>> queueLock(Collection<Long> ids);

    /** Queues the release of those of these permits that are held. */
    void queueRelease(Collection<Long> ids);

    /** Queues the release of the held permits of a request, of a semaphore that was deleted, too. */
    void queueReleaseOf(long requestId);
}
