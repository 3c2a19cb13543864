package io.dbsemaphore.persistence;

import io.dbsemaphore.admin.InstanceStatus;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.PermitHolder.HolderInstance;
import io.dbsemaphore.admin.SemaphoreAdmin.PermitUse;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import io.dbsemaphore.domain.PermitState;
import io.dbsemaphore.domain.StoredGrant;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.data.domain.Limit;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

/** The queries of the administration. Each is one read without a lock. */
interface SemaphoreReports extends Repository<Semaphore, Long> {

    record Holder(
            String externalId,
            String owner,
            int count,
            long token,
            LocalDateTime acquiredAt,
            @Nullable LocalDateTime expiresAt,
            @Nullable Long instance,
            @Nullable String instanceName,
            @Nullable LocalDateTime heartbeatAt,
            @Nullable LocalDateTime leaseExpiresAt,
            LocalDateTime now) {

        PermitHolder toContract() {
            return new PermitHolder(
                    externalId,
                    owner,
                    count,
                    token,
                    StoredGrant.instant(acquiredAt),
                    Optional.ofNullable(expiresAt).map(StoredGrant::instant),
                    Optional.ofNullable(instance).map(this::instance));
        }

        private HolderInstance instance(long id) {
            return new HolderInstance(
                    id,
                    Optional.ofNullable(instanceName),
                    Optional.ofNullable(heartbeatAt).map(StoredGrant::instant),
                    leaseExpiresAt != null && leaseExpiresAt.isAfter(now),
                    heartbeatAt == null || leaseExpiresAt == null
                            ? Optional.empty()
                            : Optional.of(reclaimableAt(heartbeatAt, leaseExpiresAt)));
        }
    }

    record Waiting(long instance, String name, LocalDateTime since, int callers) {

        WaitingInstance toContract() {
            return new WaitingInstance(instance, name, StoredGrant.instant(since), callers);
        }
    }

    @Query("""
            select new io.dbsemaphore.persistence.SemaphoreReports$Waiting(w.instance, w.owner, w.since, w.waiting)
            from SemaphoreWaiter w
            where w.semaphoreId = :semaphoreId and w.waiting > 0 and w.expiresAt > utc_now()
            order by w.since, w.instance""")
    List<Waiting> findWaiting(long semaphoreId);

    String HOLDERS = """
            select new io.dbsemaphore.persistence.SemaphoreReports$Holder(
                r.externalId, r.owner, p.count, p.token, r.createdAt, r.expiresAt,
                r.instance, i.owner, i.heartbeatAt, i.expiresAt, utc_now())
            from Permit p join PermitRequest r on r.id = p.requestId left join SemaphoreInstance i on i.id = r.instance
            where p.semaphoreId = :semaphoreId and p.state = ACQUIRED
            """;

    @Query(HOLDERS + "order by p.token")
    List<Holder> findHolders(long semaphoreId);

    @Query(HOLDERS + """
             and p.token > :afterToken
             and (locate(lower(:containing), lower(r.owner)) > 0 or locate(lower(:containing), lower(r.externalId)) > 0)
            order by p.token""")
    List<Holder> findHolders(long semaphoreId, String containing, long afterToken, Limit limit);

    /** The permits of one request, held or released. */
    record Use(
            String externalId,
            String owner,
            int count,
            long token,
            LocalDateTime acquiredAt,
            LocalDateTime updatedAt,
            @Nullable LocalDateTime expiresAt,
            PermitState state) {

        PermitUse toContract() {
            return new PermitUse(
                    externalId,
                    owner,
                    count,
                    token,
                    StoredGrant.instant(acquiredAt),
                    state == PermitState.RELEASED ? Optional.of(StoredGrant.instant(updatedAt)) : Optional.empty(),
                    Optional.ofNullable(expiresAt).map(StoredGrant::instant));
        }
    }

    @Query("""
            select new io.dbsemaphore.persistence.SemaphoreReports$Use(
                r.externalId, r.owner, p.count, p.token, r.createdAt, r.updatedAt, r.expiresAt, p.state)
            from Permit p join PermitRequest r on r.id = p.requestId
            where p.semaphoreId = :semaphoreId and p.state = ACQUIRED and r.createdAt <= :until
            order by p.token desc""")
    List<Use> findUses(long semaphoreId, LocalDateTime until, Limit limit);

    /** The released permits of a period among those up to a token, the last acquired first; scans only so many. */
    @Query("""
            select new io.dbsemaphore.persistence.SemaphoreReports$Use(
                r.externalId, r.owner, u.count, u.token, r.createdAt, r.updatedAt, r.expiresAt, r.state)
            from (select p.requestId as requestId, p.count as count, p.token as token from Permit p
                  where p.semaphoreId = :semaphoreId and p.state = RELEASED and p.token <= :upToToken
                  order by p.token desc limit :scanned) u
              join PermitRequest r on r.id = u.requestId
            where r.updatedAt >= :from and r.createdAt <= :to
            order by u.token desc""")
    List<Use> findUses(
            long semaphoreId, long upToToken, LocalDateTime from, LocalDateTime to, int scanned, Limit limit);

    record Token(long token, LocalDateTime acquiredAt) {}

    @Query("""
            select new io.dbsemaphore.persistence.SemaphoreReports$Token(p.token, r.createdAt)
            from Permit p join PermitRequest r on r.id = p.requestId
            where p.semaphoreId = :semaphoreId and p.state = RELEASED and p.token <= :upToToken
            order by p.token desc""")
    List<Token> findTokens(long semaphoreId, long upToToken, Limit limit);

    @Query("select min(p.token) from Permit p where p.semaphoreId = :semaphoreId and p.state = RELEASED")
    Optional<Long> findFirstToken(long semaphoreId);

    record Instance(
            long id,
            String name,
            LocalDateTime startedAt,
            LocalDateTime heartbeatAt,
            LocalDateTime expiresAt,
            LocalDateTime now) {

        InstanceStatus toContract(long requests) {
            return new InstanceStatus(
                    id,
                    name,
                    StoredGrant.instant(startedAt),
                    StoredGrant.instant(heartbeatAt),
                    expiresAt.isAfter(now),
                    Optional.of(reclaimableAt(heartbeatAt, expiresAt)),
                    requests);
        }
    }

    /** The lease is two thirds of the instance timeout, and the last third is the grace of the other instances. */
    private static Instant reclaimableAt(LocalDateTime heartbeatAt, LocalDateTime leaseExpiresAt) {
        return StoredGrant.instant(leaseExpiresAt.plus(
                Duration.between(heartbeatAt, leaseExpiresAt).dividedBy(2)));
    }

    @Query("""
            select new io.dbsemaphore.persistence.SemaphoreReports$Instance(
                i.id, i.owner, i.startedAt, i.heartbeatAt, i.expiresAt, utc_now())
            from SemaphoreInstance i order by i.startedAt desc, i.id desc""")
    List<Instance> findInstances(Limit limit);

    record RequestsOf(long instance, long requests) {}

    /** The number of held requests of each instance that keeps any alive. */
    @Query("""
            select new io.dbsemaphore.persistence.SemaphoreReports$RequestsOf(r.instance, count(r))
            from PermitRequest r where r.state = ACQUIRED and r.instance is not null group by r.instance""")
    List<RequestsOf> countRequestsOfInstances();
}
