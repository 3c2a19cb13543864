package io.dbsemaphore.persistence.waiting;

import jakarta.persistence.LockModeType;
import jakarta.persistence.QueryHint;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.List;
import org.hibernate.Timeouts;
import org.hibernate.jpa.SpecHints;
import org.springframework.data.domain.Limit;
import org.springframework.data.jpa.repository.Lock;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.jpa.repository.QueryHints;
import org.springframework.data.repository.Repository;

/**
 * The rows of waiting callers. Batches, polls and the sweep lock several in one transaction: one by one, in ascending order of the
 * semaphores, or without waiting for another transaction.
 */
interface WaiterRepository extends Repository<SemaphoreWaiter, SemaphoreWaiter.Key>, WaiterStatements {

    /** Locks the rows of an instance for these semaphores. Skips rows that another transaction has locked. */
    @Lock(LockModeType.PESSIMISTIC_WRITE)
    @QueryHints(@QueryHint(name = SpecHints.HINT_SPEC_LOCK_TIMEOUT, value = "" + Timeouts.SKIP_LOCKED_MILLI))
    @Query("select w from SemaphoreWaiter w where w.instance = :instance and w.semaphoreId in :semaphoreIds")
    List<SemaphoreWaiter> lockSkipLocked(long instance, Collection<Long> semaphoreIds);

    /** Confirms the rows of an instance for these semaphores, which are locked. */
    @Modifying
    @Query("update SemaphoreWaiter w set w.expiresAt = :expiresAt"
            + " where w.instance = :instance and w.semaphoreId in :semaphoreIds")
    int confirm(long instance, Collection<Long> semaphoreIds, LocalDateTime expiresAt);

    @Query("select w.semaphoreId from SemaphoreWaiter w where w.instance = :instance")
    List<Long> findSemaphoreIds(long instance);

    @Query("select w from SemaphoreWaiter w where w.expiresAt <= utc_plus_millis(:minusMillis)"
            + " order by w.semaphoreId, w.instance")
    List<SemaphoreWaiter> findExpired(long minusMillis, Limit limit);

    @Modifying
    @Query("delete from SemaphoreWaiter w where w.semaphoreId = :semaphoreId and w.instance = :instance"
            + " and w.expiresAt <= utc_plus_millis(:minusMillis)")
    int deleteExpired(long semaphoreId, long instance, long minusMillis);
}
