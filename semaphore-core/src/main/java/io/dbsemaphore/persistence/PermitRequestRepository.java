package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.StoredGrant;
import jakarta.persistence.LockModeType;
import jakarta.persistence.QueryHint;
import java.time.Duration;
import java.time.LocalDateTime;
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

/** State and expiry change by compare-and-set: each method says whether a row was in the state it must have been in. */
interface PermitRequestRepository extends Repository<PermitRequest, Long>, PermitRequestStatements {

    /** A lock timeout that Hibernate renders as SKIP LOCKED. */
    String SKIP_LOCKED = "-2";

    /** A request, and the database's clock when it was read. */
    record Found(PermitRequest request, LocalDateTime now) {}

    @Query("select new io.dbsemaphore.persistence.PermitRequestRepository$Found(r, utc_now())"
            + " from PermitRequest r where r.externalId in :externalIds")
    List<Found> findByExternalIds(Collection<String> externalIds);

    @Query("select new io.dbsemaphore.persistence.PermitRequestRepository$Found(r, utc_now())"
            + " from PermitRequest r where r.id in :ids")
    List<Found> findByIds(Collection<Long> ids);

    /** The database's clock. */
    @Query("select utc_now()")
    LocalDateTime now();

    @Query("select r.id from PermitRequest r where r.externalId = :externalId")
    Optional<Long> findIdByExternalId(String externalId);

    /** Releases what nobody has repeated or renewed since it was granted. */
    @Modifying
    @Query("""
            update PermitRequest r set r.state = RELEASED, r.updatedAt = utc_now()
            where r.id = :id and r.state = ACQUIRED and r.renewedAt = r.createdAt""")
    int releaseUnrepeated(long id);

    /** Renews what is held and not expired. */
    @Modifying
    @Query("""
            update PermitRequest r
            set r.ttlMillis = :ttlMillis, r.expiresAt = utc_plus_millis(:ttlMillis), r.renewedAt = utc_now(), r.updatedAt = utc_now()
            where r.id = :id and r.state = ACQUIRED and (r.expiresAt is null or r.expiresAt > utc_now())""")
    int renew(long id, long ttlMillis);

    /** When a request expires, and the database's clock. */
    record Expiry(@Nullable LocalDateTime expiresAt, LocalDateTime now) {

        /** The grant as it is with this expiry. */
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

    /** Begins the time to live of a repeated request anew; one that is expired, but that nobody took, is still its own. */
    @Modifying
    @Query("""
            update PermitRequest r
            set r.ttlMillis = :ttlMillis, r.expiresAt = utc_plus_millis(:ttlMillis), r.instance = :instance, r.renewedAt = utc_now(), r.updatedAt = utc_now()
            where r.id = :id and r.state = ACQUIRED""")
    int replay(long id, long ttlMillis, @Nullable Long instance);

    /** Makes a repeated request last until it is released. */
    @Modifying
    @Query("""
            update PermitRequest r
            set r.ttlMillis = null, r.expiresAt = null, r.instance = null, r.renewedAt = utc_now(), r.updatedAt = utc_now()
            where r.id = :id and r.state = ACQUIRED""")
    int replayWithoutTtl(long id);

    /**
     * The first expiries among the held permits of a semaphore.
     *
     * @param expiresAt of the times to live; null where nothing held has one
     * @param heartbeatAt of the instances that keep permits alive, the oldest heartbeat; null where none does
     * @param overdueAt when that heartbeat is overdue, if none follows
     */
    record EarliestExpiry(
            long semaphoreId,
            @Nullable LocalDateTime expiresAt,
            @Nullable LocalDateTime heartbeatAt,
            @Nullable LocalDateTime overdueAt) {

        /** When the first permit may be reclaimed unless its holder renews it; null where that is never. */
        @Nullable LocalDateTime at() {
            if (heartbeatAt == null || overdueAt == null) {
                return expiresAt;
            }
            // a heartbeat is overdue after two thirds of the instance timeout, the last third is the grace
            LocalDateTime silentAt =
                    overdueAt.plus(Duration.between(heartbeatAt, overdueAt).dividedBy(2));
            return expiresAt != null && expiresAt.isBefore(silentAt) ? expiresAt : silentAt;
        }
    }

    @Query("""
            select new io.dbsemaphore.persistence.PermitRequestRepository$EarliestExpiry(
                p.semaphoreId, min(r.expiresAt), min(i.heartbeatAt), min(i.expiresAt))
            from Permit p join PermitRequest r on r.id = p.requestId left join SemaphoreInstance i on i.id = r.instance
            where p.semaphoreId in :semaphoreIds and p.state = ACQUIRED
            group by p.semaphoreId""")
    List<EarliestExpiry> findEarliestExpiries(Collection<Long> semaphoreIds);

    /** Locks those of the requests that are held and that nobody else has locked. */
    @Lock(LockModeType.PESSIMISTIC_WRITE)
    @QueryHints(@QueryHint(name = SpecHints.HINT_SPEC_LOCK_TIMEOUT, value = SKIP_LOCKED))
    @Query("select r from PermitRequest r where r.id in :ids and r.state = ACQUIRED order by r.id")
    List<PermitRequest> lockHeld(Collection<Long> ids);

    /** Those that expired first, whatever they hold, by an index; read without a lock. */
    @Query(
            "select r.id from PermitRequest r where r.state = ACQUIRED and r.expiresAt <= utc_now() order by r.expiresAt")
    List<Long> findOldestExpired(Limit limit);

    /** Requests above a key that have expired and hold permits of these semaphores; read without a lock. */
    @Query("""
            select distinct r.id from PermitRequest r join Permit p on p.requestId = r.id
            where p.semaphoreId in :semaphoreIds and p.state = ACQUIRED
              and r.state = ACQUIRED and r.expiresAt <= utc_now() and r.id > :after
            order by r.id""")
    List<Long> findExpired(Collection<Long> semaphoreIds, long after, Limit limit);

    /** Requests above a key that have expired, whatever they hold; read without a lock. */
    @Query("""
            select r.id from PermitRequest r
            where r.state = ACQUIRED and r.expiresAt <= utc_now() and r.id > :after
            order by r.id""")
    List<Long> findExpired(long after, Limit limit);

    /** Requests above a key that hold permits of these semaphores and are kept alive by these instances. */
    @Query("""
            select distinct r.id from PermitRequest r join Permit p on p.requestId = r.id
            where p.semaphoreId in :semaphoreIds and p.state = ACQUIRED
              and r.state = ACQUIRED and r.instance in :instances and r.id > :after
            order by r.id""")
    List<Long> findOfInstances(Collection<Long> semaphoreIds, Collection<Long> instances, long after, Limit limit);

    /** Requests above a key that these instances keep alive; read without a lock. */
    @Query("""
            select r.id from PermitRequest r
            where r.state = ACQUIRED and r.instance in :instances and r.id > :after
            order by r.id""")
    List<Long> findOfInstances(Collection<Long> instances, long after, Limit limit);

    /** Requests above a key without a time to live that were neither acquired nor renewed for long. */
    @Query("""
            select r.id from PermitRequest r
            where r.state = ACQUIRED and r.expiresAt is null and r.renewedAt <= utc_plus_millis(:minusMillis)
              and r.id > :after
            order by r.id""")
    List<Long> findStale(long minusMillis, long after, Limit limit);

    /** Who holds something. */
    @Query("select distinct r.owner from PermitRequest r where r.state = ACQUIRED")
    List<String> findOwners();

    /** Requests above a key that an owner holds and has neither acquired nor renewed since; read without a lock. */
    @Query("""
            select r.id from PermitRequest r
            where r.state = ACQUIRED and r.owner = :owner and r.renewedAt <= :since and r.id > :after
            order by r.id""")
    List<Long> findOfOwner(String owner, LocalDateTime since, long after, Limit limit);

    /** Releases what is held and expired. */
    @Modifying
    @Query("""
            update PermitRequest r set r.state = RELEASED, r.updatedAt = utc_now()
            where r.id in :ids and r.state = ACQUIRED and r.expiresAt <= utc_now()""")
    int releaseExpired(Collection<Long> ids);

    /** Releases what is held and kept alive by an instance that is silent. */
    @Modifying
    @Query("""
            update PermitRequest r set r.state = RELEASED, r.updatedAt = utc_now()
            where r.id in :ids and r.state = ACQUIRED and r.instance is not null
              and not exists (select 1 from SemaphoreInstance i where i.id = r.instance and i.expiresAt > utc_now())""")
    int releaseOfSuspect(Collection<Long> ids);

    /** Releases what is held without a time to live and is stale. */
    @Modifying
    @Query("""
            update PermitRequest r set r.state = RELEASED, r.updatedAt = utc_now()
            where r.id in :ids and r.state = ACQUIRED and r.expiresAt is null
              and r.renewedAt <= utc_plus_millis(:minusMillis)""")
    int releaseStale(Collection<Long> ids, long minusMillis);

    /** Releases what this owner holds and has neither acquired nor renewed since. */
    @Modifying
    @Query("""
            update PermitRequest r set r.state = RELEASED, r.updatedAt = utc_now()
            where r.id in :ids and r.state = ACQUIRED and r.owner = :owner and r.renewedAt <= :since""")
    int releaseOfOwner(Collection<Long> ids, String owner, LocalDateTime since);

    /** Which of these are held, be they expired. */
    @Query("select r.id from PermitRequest r where r.id in :ids and r.state = ACQUIRED")
    List<Long> findHeld(Collection<Long> ids);

    /** Which of these are released. */
    @Query("select r.id from PermitRequest r where r.id in :ids and r.state = RELEASED")
    List<Long> findReleased(Collection<Long> ids);

    /** Which of these are held and not expired. */
    @Query("""
            select r.id from PermitRequest r
            where r.id in :ids and r.state = ACQUIRED and (r.expiresAt is null or r.expiresAt > utc_now())""")
    List<Long> findAlive(Collection<Long> ids);

    /** Requests with keys up to a bound that were released long ago, the oldest first; read without a lock. */
    @Query("""
            select r.id from PermitRequest r
            where r.id <= :upTo and r.state = RELEASED and r.updatedAt <= utc_plus_millis(:minusMillis)
            order by r.id""")
    List<Long> findReleasedBefore(long upTo, long minusMillis, Limit limit);

    /** Deletes what is released; its permits must be gone. */
    @Modifying
    @Query("delete from PermitRequest r where r.id in :ids and r.state = RELEASED")
    int deleteReleased(Collection<Long> ids);

    /** Released requests that have an acquired permit of these semaphores: what no transaction of ours leaves behind. */
    @Query("""
            select distinct r.id from Permit p join PermitRequest r on r.id = p.requestId
            where p.semaphoreId in :semaphoreIds and p.state = ACQUIRED and r.state = RELEASED""")
    List<Long> findHalfReleased(Collection<Long> semaphoreIds, Limit limit);
}
