package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.StoredGrant;
import jakarta.persistence.LockModeType;
import jakarta.persistence.QueryHint;
import java.time.Duration;
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

/**
 * State and expiry change by compare-and-set: each method returns the number of rows that were in the expected state. An update after
 * which the request is read again clears the session, which may have loaded the request before.
 */
interface PermitRequestRepository extends Repository<PermitRequest, Long> {

    /** A request, and the database's clock when it was read. */
    record Found(PermitRequest request, LocalDateTime now) {}

    @Query("select new io.dbsemaphore.persistence.PermitRequestRepository$Found(r, utc_now())"
            + " from PermitRequest r where r.externalId in :externalIds")
    List<Found> findByExternalIds(Collection<String> externalIds);

    @Query("select new io.dbsemaphore.persistence.PermitRequestRepository$Found(r, utc_now())"
            + " from PermitRequest r where r.id in :ids")
    List<Found> findByIds(Collection<Long> ids);

    @Query("select utc_now()")
    LocalDateTime now();

    @Query("select r.id from PermitRequest r where r.externalId = :externalId")
    Optional<Long> findIdByExternalId(String externalId);

    /** Releases a request that has been neither repeated nor renewed since it was granted. */
    @Modifying
    @Query("""
            update PermitRequest r set r.state = RELEASED, r.updatedAt = utc_now()
            where r.id = :id and r.state = ACQUIRED and r.renewedAt = r.createdAt""")
    int releaseUnrepeated(long id);

    @Modifying(clearAutomatically = true)
    @Query("""
            update PermitRequest r
            set r.ttlMillis = :ttlMillis, r.expiresAt = utc_plus_millis(:ttlMillis), r.renewedAt = utc_now(), r.updatedAt = utc_now()
            where r.id = :id and r.state = ACQUIRED and (r.expiresAt is null or r.expiresAt > utc_now())""")
    int renew(long id, long ttlMillis);

    /** Renews a request that is kept alive for the last time, up to the end of its maximum hold; never shortens it. */
    @Modifying
    @Query("""
            update PermitRequest r
            set r.expiresAt = utc_plus_millis(:millis), r.renewedAt = utc_now(), r.updatedAt = utc_now()
            where r.id = :id and r.state = ACQUIRED and r.expiresAt > utc_now() and r.expiresAt < utc_plus_millis(:millis)""")
    int renewUntil(long id, long millis);

    /** The expiry of a request, and the database's clock when it was read. */
    record Expiry(@Nullable LocalDateTime expiresAt, LocalDateTime now) {

        StoredGrant of(StoredGrant grant, Duration ttl) {
            return new StoredGrant(
                    grant.requestId(),
                    grant.externalId(),
                    grant.owner(),
                    grant.permits(),
                    ttl,
                    grant.acquiredAt(),
                    expiresAt == null ? null : StoredGrant.instant(expiresAt),
                    StoredGrant.instant(now));
        }
    }

    @Query("select new io.dbsemaphore.persistence.PermitRequestRepository$Expiry(r.expiresAt, utc_now())"
            + " from PermitRequest r where r.id = :id")
    Optional<Expiry> findExpiry(long id);

    /** Restarts the time to live of a repeated request, also if it has expired but has not been reclaimed. */
    @Modifying(clearAutomatically = true)
    @Query("""
            update PermitRequest r
            set r.ttlMillis = :ttlMillis, r.expiresAt = utc_plus_millis(:ttlMillis), r.instance = :instance, r.renewedAt = utc_now(), r.updatedAt = utc_now()
            where r.id = :id and r.state = ACQUIRED""")
    int replay(long id, long ttlMillis, @Nullable Long instance);

    /** Removes the time to live of a repeated request: it is held until released. */
    @Modifying(clearAutomatically = true)
    @Query("""
            update PermitRequest r
            set r.ttlMillis = null, r.expiresAt = null, r.instance = null, r.renewedAt = utc_now(), r.updatedAt = utc_now()
            where r.id = :id and r.state = ACQUIRED""")
    int replayWithoutTtl(long id);

    /**
     * The first expiries among the held permits of a semaphore.
     *
     * @param expiresAt the earliest expiry of a time to live; null if no held request has one
     * @param heartbeatAt the oldest heartbeat of an instance that keeps permits alive; null if there is none
     * @param overdueAt when that heartbeat becomes overdue
     */
    record EarliestExpiry(
            long semaphoreId,
            @Nullable LocalDateTime expiresAt,
            @Nullable LocalDateTime heartbeatAt,
            @Nullable LocalDateTime overdueAt) {

        /** When the first permit may be reclaimed unless it is renewed; null if never. */
        @Nullable LocalDateTime at() {
            if (heartbeatAt == null || overdueAt == null) {
                return expiresAt;
            }
            // a heartbeat is overdue after two thirds of the instance timeout, the last third is the grace
            LocalDateTime suspectAt =
                    overdueAt.plus(Duration.between(heartbeatAt, overdueAt).dividedBy(2));
            return expiresAt != null && expiresAt.isBefore(suspectAt) ? expiresAt : suspectAt;
        }
    }

    @Query("""
            select new io.dbsemaphore.persistence.PermitRequestRepository$EarliestExpiry(
                p.semaphoreId, min(r.expiresAt), min(i.heartbeatAt), min(i.expiresAt))
            from Permit p join PermitRequest r on r.id = p.requestId left join SemaphoreInstance i on i.id = r.instance
            where p.semaphoreId in :semaphoreIds and p.state = ACQUIRED
            group by p.semaphoreId""")
    List<EarliestExpiry> findEarliestExpiries(Collection<Long> semaphoreIds);

    /** Locks the held requests that no other transaction has locked. */
    @Lock(LockModeType.PESSIMISTIC_WRITE)
    @QueryHints(@QueryHint(name = SpecHints.HINT_SPEC_LOCK_TIMEOUT, value = "" + Timeouts.SKIP_LOCKED_MILLI))
    @Query("select r from PermitRequest r where r.id in :ids and r.state = ACQUIRED order by r.id")
    List<PermitRequest> lockHeld(Collection<Long> ids);

    /** The requests that expired first, of any semaphore, found by an index; read without a lock. */
    @Query(
            "select r.id from PermitRequest r where r.state = ACQUIRED and r.expiresAt <= utc_now() order by r.expiresAt")
    List<Long> findOldestExpired(Limit limit);

    @Query("""
            select distinct r.id from PermitRequest r join Permit p on p.requestId = r.id
            where p.semaphoreId in :semaphoreIds and p.state = ACQUIRED
              and r.state = ACQUIRED and r.expiresAt <= utc_now() and r.id > :after
            order by r.id""")
    List<Long> findExpired(Collection<Long> semaphoreIds, long after, Limit limit);

    @Query("""
            select r.id from PermitRequest r
            where r.state = ACQUIRED and r.expiresAt <= utc_now() and r.id > :after
            order by r.id""")
    List<Long> findExpired(long after, Limit limit);

    @Query("""
            select distinct r.id from PermitRequest r join Permit p on p.requestId = r.id
            where p.semaphoreId in :semaphoreIds and p.state = ACQUIRED
              and r.state = ACQUIRED and r.instance in :instances and r.id > :after
            order by r.id""")
    List<Long> findOfInstances(Collection<Long> semaphoreIds, Collection<Long> instances, long after, Limit limit);

    @Query("""
            select r.id from PermitRequest r
            where r.state = ACQUIRED and r.instance in :instances and r.id > :after
            order by r.id""")
    List<Long> findOfInstances(Collection<Long> instances, long after, Limit limit);

    @Query("""
            select r.id from PermitRequest r
            where r.state = ACQUIRED and r.expiresAt is null and r.renewedAt <= utc_plus_millis(:minusMillis)
              and r.id > :after
            order by r.id""")
    List<Long> findStale(long minusMillis, long after, Limit limit);

    @Query("select distinct r.owner from PermitRequest r where r.state = ACQUIRED")
    List<String> findOwners();

    @Query("""
            select r.id from PermitRequest r
            where r.state = ACQUIRED and r.owner = :owner and r.renewedAt <= :since and r.id > :after
            order by r.id""")
    List<Long> findOfOwner(String owner, LocalDateTime since, long after, Limit limit);

    @Modifying
    @Query("""
            update PermitRequest r set r.state = RELEASED, r.updatedAt = utc_now()
            where r.id in :ids and r.state = ACQUIRED and r.expiresAt <= utc_now()""")
    int releaseExpired(Collection<Long> ids);

    @Modifying
    @Query("""
            update PermitRequest r set r.state = RELEASED, r.updatedAt = utc_now()
            where r.id in :ids and r.state = ACQUIRED and r.instance is not null
              and not exists (select 1 from SemaphoreInstance i where i.id = r.instance and i.expiresAt > utc_now())""")
    int releaseOfSuspect(Collection<Long> ids);

    @Modifying
    @Query("""
            update PermitRequest r set r.state = RELEASED, r.updatedAt = utc_now()
            where r.id in :ids and r.state = ACQUIRED and r.expiresAt is null
              and r.renewedAt <= utc_plus_millis(:minusMillis)""")
    int releaseStale(Collection<Long> ids, long minusMillis);

    @Modifying
    @Query("""
            update PermitRequest r set r.state = RELEASED, r.updatedAt = utc_now()
            where r.id in :ids and r.state = ACQUIRED and r.owner = :owner and r.renewedAt <= :since""")
    int releaseOfOwner(Collection<Long> ids, String owner, LocalDateTime since);

    /** The requests among these that are held, including expired ones. */
    @Query("select r.id from PermitRequest r where r.id in :ids and r.state = ACQUIRED")
    List<Long> findHeld(Collection<Long> ids);

    @Query("select r.id from PermitRequest r where r.id in :ids and r.state = RELEASED")
    List<Long> findReleased(Collection<Long> ids);

    @Query("""
            select r.id from PermitRequest r
            where r.id in :ids and r.state = ACQUIRED and (r.expiresAt is null or r.expiresAt > utc_now())""")
    List<Long> findAlive(Collection<Long> ids);

    @Query("""
            select r.id from PermitRequest r
            where r.id <= :upTo and r.state = RELEASED and r.updatedAt <= utc_plus_millis(:minusMillis)
            order by r.id""")
    List<Long> findReleasedBefore(long upTo, long minusMillis, Limit limit);

    /** Deletes released requests, whose permits must have been deleted before. */
    @Modifying
    @Query("delete from PermitRequest r where r.id in :ids and r.state = RELEASED")
    int deleteReleased(Collection<Long> ids);

    /**
     * The released requests that still hold permits of these semaphores, a state that no transaction of the library leaves.
     */
    @Query("""
            select distinct r.id from Permit p join PermitRequest r on r.id = p.requestId
            where p.semaphoreId in :semaphoreIds and p.state = ACQUIRED and r.state = RELEASED""")
    List<Long> findHalfReleased(Collection<Long> semaphoreIds, Limit limit);
}
