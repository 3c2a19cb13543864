package io.dbsemaphore.persistence;

import java.util.Collection;
import java.util.List;
import org.springframework.data.domain.Limit;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

/** The queries (without locks) and deletions of the maintenance, in all tables. An age is given in negative milliseconds. */
interface MaintenanceRepository extends Repository<PermitRequest, Long> {

    @Query("select distinct r.owner from PermitRequest r where r.state = ACQUIRED")
    List<String> findOwners();

    /** Finds requests that were released at least this long ago, up to an id above which no request is as old. */
    @Query("""
            select r.id from PermitRequest r
            where r.id <= :upTo and r.state = RELEASED and r.updatedAt <= utc_plus_millis(:minusMillis)
            order by r.id""")
    List<Long> findReleasedBefore(long upTo, long minusMillis, Limit limit);

    /** Deletes the permits of released requests, even if something else has left them held. */
    @Modifying
    @Query("delete from Permit p where p.requestId in :requestIds")
    int deletePermits(Collection<Long> requestIds);

    /** Deletes released requests, whose permits must have been deleted before. */
    @Modifying
    @Query("delete from PermitRequest r where r.id in :ids and r.state = RELEASED")
    int deleteReleased(Collection<Long> ids);

    /** Finds released requests that still hold permits of these semaphores; the library itself never leaves this state behind. */
    @Query("""
            select distinct r.id from Permit p join PermitRequest r on r.id = p.requestId
            where p.semaphoreId in :semaphoreIds and p.state = ACQUIRED and r.state = RELEASED""")
    List<Long> findHalfReleased(Collection<Long> semaphoreIds, Limit limit);

    @Query("select s.id from Semaphore s where s.id > :after order by s.id")
    List<Long> findSemaphores(long after, Limit limit);

    /** Finds the next pattern-created semaphores, by id, that have no held permits and have been idle for long enough. */
    @Query("""
            select s.id from Semaphore s
            where s.id > :after and s.pattern is not null and s.updatedAt <= utc_plus_millis(:minusMillis)
              and not exists (select 1 from Permit p where p.semaphoreId = s.id and p.state = ACQUIRED)
            order by s.id""")
    List<Long> findIdleOfPatterns(long minusMillis, long after, Limit limit);

    @Modifying
    @Query("delete from Semaphore s where s.id = :id and s.updatedAt <= utc_plus_millis(:minusMillis)")
    int deleteIdle(long id, long minusMillis);

    @Query("select w from SemaphoreWaiter w where w.expiresAt <= utc_plus_millis(:minusMillis)"
            + " order by w.semaphoreId, w.instance")
    List<SemaphoreWaiter> findExpiredWaiters(long minusMillis, Limit limit);

    @Modifying
    @Query("delete from SemaphoreWaiter w where w.semaphoreId = :semaphoreId and w.instance = :instance"
            + " and w.expiresAt <= utc_plus_millis(:minusMillis)")
    int deleteExpiredWaiter(long semaphoreId, long instance, long minusMillis);

    @Query("""
            select i.id from SemaphoreInstance i
            where i.expiresAt <= utc_plus_millis(:minusMillis)
              and not exists (select 1 from PermitRequest r where r.state = ACQUIRED and r.instance = i.id)""")
    List<Long> findExpiredInstances(long minusMillis);

    @Modifying
    @Query("delete from SemaphoreInstance i where i.id in :ids and i.expiresAt <= utc_plus_millis(:minusMillis)")
    int deleteExpiredInstances(Collection<Long> ids, long minusMillis);

    @Query("""
            select c.id from CapacityAudit c
            where c.id between :first and :last and c.changedAt <= utc_plus_millis(:minusMillis) order by c.id""")
    List<Long> findChangesBefore(long first, long last, long minusMillis, Limit limit);

    @Modifying
    @Query("delete from CapacityAudit c where c.id in :ids")
    int deleteChanges(Collection<Long> ids);
}
