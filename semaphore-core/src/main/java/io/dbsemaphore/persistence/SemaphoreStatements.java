package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.LockedSemaphore;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.function.Supplier;

/**
 * A fragment of {@link SemaphoreRepository}: statements that are queued for the next round trip of the transaction.
 */
interface SemaphoreStatements {

    /** Whether all queued statements take one round trip, because the driver pipelines. */
    boolean areOneRoundTrip();

    /** Queues the lock of {@link SemaphoreRepository#lockById}. */
    Supplier<List<LockedSemaphore>> queueLockById(long id);

    /** Queues the lock of {@link SemaphoreRepository#lockSkipLocked}. */
    Supplier<List<LockedSemaphore>> queueLockSkipLocked(Collection<Long> ids);

    /** Executes the queued statements, see {@link PermitRequestStatements#sendQueued}. */
    void sendQueued();

    /**
     * Queues an update of locked rows: reserves {@code by} tokens, and raises the watermarks to the lowest held token.
     *
     * @param liveFrom the lowest held token, by semaphore id
     */
    void queueRaiseFences(Map<Long, Long> liveFrom, int by, LocalDateTime now);
}
