package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.LockedSemaphore;
import io.dbsemaphore.jdbc.StatementQueue.Result;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Map;

/**
 * A fragment of {@link SemaphoreRepository}: what it queues for the next round trip of the transaction where the driver can
 * send several statements at once.
 */
interface SemaphoreStatements {

    /** Whether all that is queued takes one round trip, and not one for each statement. */
    boolean areOneRoundTrip();

    /** Queues what {@link SemaphoreRepository#lockById} does. */
    Result<List<LockedSemaphore>> queueLockById(long id);

    /** Queues what {@link SemaphoreRepository#lockFree} does. */
    Result<List<LockedSemaphore>> queueLockFree(Collection<Long> ids);

    /** Executes what is queued. */
    void flush();

    /**
     * Queues a write to rows that are locked: {@code by} tokens are reserved, and the watermarks move up to the lowest token
     * that is held.
     *
     * @param liveFrom the lowest token that is held, by semaphore id
     */
    void queueRaiseFences(Map<Long, Long> liveFrom, int by, LocalDateTime now);
}
