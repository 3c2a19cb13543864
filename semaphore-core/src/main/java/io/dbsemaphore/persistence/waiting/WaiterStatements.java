package io.dbsemaphore.persistence.waiting;

import io.dbsemaphore.domain.InstanceQueue;
import io.dbsemaphore.domain.LocalQueue;
import io.dbsemaphore.domain.LocalQueues;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.List;
import java.util.function.Supplier;

/** A fragment of {@link WaiterRepository}: statements that are queued for the next round trip of the transaction. */
interface WaiterStatements {

    /** Queues a query of all rows of these semaphores, those that have expired included. */
    Supplier<List<InstanceQueue>> queueFind(Collection<Long> semaphoreIds);

    /** Executes that query, after the statements that are queued. */
    List<InstanceQueue> find(Collection<Long> semaphoreIds);

    void queueInsert(long semaphoreId, LocalQueues own, LocalQueue queue, LocalDateTime expiresAt);

    void queueUpdate(long semaphoreId, long instance, LocalQueue queue, LocalDateTime expiresAt);

    void queueDelete(long semaphoreId, long instance);

    /** Queues an update of a semaphore, whose row is locked: until then callers may be waiting. */
    void queueAwaited(Collection<Long> semaphoreIds, LocalDateTime until);
}
