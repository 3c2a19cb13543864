package io.dbsemaphore.persistence;

import jakarta.persistence.LockModeType;
import jakarta.persistence.QueryHint;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.hibernate.jpa.SpecHints;
import org.jspecify.annotations.Nullable;
import org.springframework.data.domain.Limit;
import org.springframework.data.jpa.repository.Lock;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.jpa.repository.QueryHints;
import org.springframework.data.repository.Repository;

interface SemaphoreRepository extends Repository<Semaphore, Long>, SemaphoreStatements {

    /** The id that a name has. */
    record NamedId(String name, long id) {}

    /**
     * Locks one row. One id per statement, in ascending order: a list of ids is locked in the order of whatever index
     * the optimizer chose, and rows that nobody asked for with it.
     */
    @Lock(LockModeType.PESSIMISTIC_WRITE)
    @Query("select s from Semaphore s where s.id = :id")
    Optional<Semaphore> lockById(long id);

    /** Locks those of the rows that no other transaction has locked. It never waits, so that their order does not matter. */
    @Lock(LockModeType.PESSIMISTIC_WRITE)
    @QueryHints(@QueryHint(name = SpecHints.HINT_SPEC_LOCK_TIMEOUT, value = PermitRequestRepository.SKIP_LOCKED))
    @Query("select s from Semaphore s where s.id in :ids order by s.id")
    List<Semaphore> lockFree(Collection<Long> ids);

    @Query("select new io.dbsemaphore.persistence.SemaphoreRepository$NamedId(s.name, s.id)"
            + " from Semaphore s where s.name in :names")
    List<NamedId> findIds(Collection<String> names);

    /** How full a semaphore is. */
    record Level(String name, int capacity, long held, int exclusive, long fence) {}

    /** How full these are, and read without a lock: good for a guess. */
    @Query("""
            select new io.dbsemaphore.persistence.SemaphoreRepository$Level(
                s.name, s.capacity, coalesce(sum(p.count), 0), coalesce(max(p.exclusive), 0), s.fence)
            from Semaphore s left join Permit p on p.semaphoreId = s.id and p.state = ACQUIRED
            where s.id in :ids
            group by s.id, s.name, s.capacity, s.fence""")
    List<Level> findLevels(Collection<Long> ids);

    /** Raises the fences of these semaphores, whose rows are locked. */
    @Modifying
    @Query("update Semaphore s set s.fence = s.fence + :by where s.id in :ids")
    int raiseFences(Collection<Long> ids, long by);

    /** What is held of a semaphore. */
    @Query("select coalesce(sum(p.count), 0) from Permit p where p.semaphoreId = :id and p.state = ACQUIRED")
    long sumHeld(long id);

    /**
     * Creates a semaphore. Its fence begins at the clock, so that one which was deleted and is made again goes on above
     * its old tokens.
     */
    @Modifying
    @Query("insert into Semaphore (id, name, capacity, pattern, fence, liveFrom, createdAt, updatedAt)"
            + " values (:id, :name, :capacity, :pattern, epoch_micros(), 0, utc_now(), utc_now())")
    int insert(long id, String name, int capacity, @Nullable String pattern);

    @Modifying
    @Query(
            "update Semaphore s set s.capacity = :capacity, s.fence = s.fence + 1, s.updatedAt = utc_now() where s.id = :id")
    int updateCapacity(long id, int capacity);

    @Modifying
    @Query("delete from Semaphore s where s.id = :id")
    int delete(long id);

    /** How many semaphores patterns have made. */
    @Query("select count(s) from Semaphore s where s.pattern is not null")
    long countOfPatterns();

    /** The semaphores above a key. */
    @Query("select s.id from Semaphore s where s.id > :after order by s.id")
    List<Long> findIdsAfter(long after, Limit limit);

    /**
     * Semaphores above a key that a pattern made, of which nothing is held, and that nobody has acquired for long; read
     * without a lock.
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
