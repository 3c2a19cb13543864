package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.HeldSum;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;

/**
 * A fragment of {@link PermitRepository}: statements whose text depends on the number of rows. Queued statements are
 * executed by the next round trip of the transaction, at the latest by its commit.
 */
interface PermitStatements {

    /**
     * Executes the queued statements, sums the held permits of each semaphore, by id, and reads the database's clock. The
     * sum is a statement of its own after the locks, since a sum within the locking statement would use a snapshot from
     * before its wait. It scans the covering index from the low watermark of each semaphore: entries of released permits
     * that cannot be purged while an old snapshot is open are below the watermark.
     */
    Map<Long, HeldSum> sumHeld(Collection<Long> semaphoreIds);

    void insertAll(List<Permit> permits);

    /** Locks the held permits among these that no other transaction has locked, and returns their ids. */
    Set<Long> lockSkipLocked(Collection<Long> ids);

    /**
     * Queues a lock of the held permits among these; it {@linkplain io.dbsemaphore.jdbc.SqlErrorKind#LOCK_REFUSED fails}
     * immediately if another transaction has locked one of them. The result is their ids.
     */
    Supplier<Set<Long>> queueLock(Collection<Long> ids);

    /** Queues the release of the held permits among these. */
    void queueRelease(Collection<Long> ids);

    /** Queues the release of the held permits of those of the requests that are released. */
    void queueReleaseOfReleased(Collection<Long> requestIds);

    /** Queues the release of the held permits of a request, including those of deleted semaphores. */
    void queueReleaseOf(long requestId);
}
