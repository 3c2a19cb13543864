package io.dbsemaphore.persistence;

import jakarta.persistence.LockModeType;
import jakarta.persistence.QueryHint;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.hibernate.Timeouts;
import org.hibernate.jpa.SpecHints;
import org.springframework.data.jpa.repository.Lock;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.jpa.repository.QueryHints;
import org.springframework.data.repository.Repository;

interface SemaphoreRepository extends Repository<Semaphore, Long> {

    /**
     * Locks one row for {@link SemaphoreTable#lock}, which explains why a statement locks only one.
     */
    @Lock(LockModeType.PESSIMISTIC_WRITE)
    @Query("select s from Semaphore s where s.id = :id")
    Optional<Semaphore> lockById(long id);

    /** Locks the rows that no other transaction has locked. It never waits, so the order of the ids does not matter. */
    @Lock(LockModeType.PESSIMISTIC_WRITE)
    @QueryHints(@QueryHint(name = SpecHints.HINT_SPEC_LOCK_TIMEOUT, value = "" + Timeouts.SKIP_LOCKED_MILLI))
    @Query("select s from Semaphore s where s.id in :ids order by s.id")
    List<Semaphore> lockSkipLocked(Collection<Long> ids);

    @Query("select coalesce(sum(p.count), 0) from Permit p where p.semaphoreId = :id and p.state = ACQUIRED")
    long sumHeld(long id);

    @Modifying
    @Query("delete from Semaphore s where s.id = :id")
    int delete(long id);
}
