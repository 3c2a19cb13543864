package io.dbsemaphore.persistence;

import jakarta.persistence.LockModeType;
import jakarta.persistence.QueryHint;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.hibernate.Timeouts;
import org.hibernate.jpa.SpecHints;
import org.jspecify.annotations.Nullable;
import org.springframework.data.domain.Limit;
import org.springframework.data.jpa.repository.Lock;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.jpa.repository.QueryHints;
import org.springframework.data.repository.Repository;

interface SemaphoreRepository extends Repository<Semaphore, Long> {

    record NamedId(String name, long id) {}

    /**
     * Locks one row. Callers lock one id per statement, in ascending order: an IN-list is locked in the order of the index
     * that the optimizer chooses, and may lock rows that were not requested.
     */
    @Lock(LockModeType.PESSIMISTIC_WRITE)
    @Query("select s from Semaphore s where s.id = :id")
    Optional<Semaphore> lockById(long id);

    /** Locks the rows that no other transaction has locked. It never waits, so that the order of the ids does not matter. */
    @Lock(LockModeType.PESSIMISTIC_WRITE)
    @QueryHints(@QueryHint(name = SpecHints.HINT_SPEC_LOCK_TIMEOUT, value = "" + Timeouts.SKIP_LOCKED_MILLI))
    @Query("select s from Semaphore s where s.id in :ids order by s.id")
    List<Semaphore> lockSkipLocked(Collection<Long> ids);

    @Query("select new io.dbsemaphore.persistence.SemaphoreRepository$NamedId(s.name, s.id)"
            + " from Semaphore s where s.name in :names")
    List<NamedId> findIds(Collection<String> names);

    record Availability(
            long id,
            String name,
            int capacity,
            long held,
            int exclusive,
            long fence,
            @Nullable LocalDateTime waitersUntil,
            LocalDateTime now) {}

    /** The availability of these semaphores, read without a lock, so that it may be outdated. */
    @Query("""
            select new io.dbsemaphore.persistence.SemaphoreRepository$Availability(
                s.id, s.name, s.capacity, coalesce(sum(p.count), 0), coalesce(max(p.exclusive), 0), s.fence,
                s.waitersUntil, utc_now())
            from Semaphore s left join Permit p on p.semaphoreId = s.id and p.state = ACQUIRED
            where s.id in :ids
            group by s.id, s.name, s.capacity, s.fence, s.waitersUntil""")
    List<Availability> findAvailabilities(Collection<Long> ids);

    @Query("select coalesce(sum(p.count), 0) from Permit p where p.semaphoreId = :id and p.state = ACQUIRED")
    long sumHeld(long id);

    @Modifying
    @Query(
            "update Semaphore s set s.capacity = :capacity, s.fence = s.fence + 1, s.updatedAt = utc_now() where s.id = :id")
    int updateCapacity(long id, int capacity);

    @Modifying
    @Query("delete from Semaphore s where s.id = :id")
    int delete(long id);

    /** Names that no pattern has created. */
    @Query("select s.name from Semaphore s where s.pattern is null order by s.name")
    List<String> findNames(Limit limit);

    @Query("select count(s) from Semaphore s where s.pattern is not null")
    long countOfPatterns();

    @Query("select s.id from Semaphore s where s.id > :after order by s.id")
    List<Long> findIdsAfter(long after, Limit limit);

    /**
     * The semaphores above an id that were created by a pattern, of which nothing is held, and which have long been idle;
     * read without a lock.
     */
    @Query("""
            select s.id from Semaphore s
            where s.id > :after and s.pattern is not null and s.updatedAt <= utc_plus_millis(:minusMillis)
              and not exists (select 1 from Permit p where p.semaphoreId = s.id and p.state = ACQUIRED)
            order by s.id""")
    List<Long> findIdleOfPatterns(long minusMillis, long after, Limit limit);

    @Modifying
    @Query("delete from Semaphore s where s.id = :id and s.updatedAt <= utc_plus_millis(:minusMillis)")
    int deleteIdle(long id, long minusMillis);
}
