package io.dbsemaphore.persistence.waiting;

import java.time.LocalDateTime;
import java.util.Collection;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

/** The rows of waiting callers. */
interface WaiterRepository extends Repository<SemaphoreWaiter, SemaphoreWaiter.Key>, WaiterStatements {

    /** Confirms the rows of an instance for these semaphores. */
    @Modifying
    @Query("update SemaphoreWaiter w set w.expiresAt = :expiresAt"
            + " where w.instance = :instance and w.semaphoreId in :semaphoreIds")
    int confirm(long instance, Collection<Long> semaphoreIds, LocalDateTime expiresAt);

    /** Deletes the rows of an instance for these semaphores. */
    @Modifying
    @Query("delete from SemaphoreWaiter w where w.instance = :instance and w.semaphoreId in :semaphoreIds")
    int delete(long instance, Collection<Long> semaphoreIds);

    /** Deletes all rows of an instance. */
    @Modifying
    @Query("delete from SemaphoreWaiter w where w.instance = :instance")
    int deleteAll(long instance);

    /** Deletes the rows of instances that have not confirmed them for so long. */
    @Modifying
    @Query("delete from SemaphoreWaiter w where w.expiresAt <= utc_plus_millis(:minusMillis)")
    int deleteExpired(long minusMillis);
}
