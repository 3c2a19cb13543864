package io.dbsemaphore.persistence;

import io.dbsemaphore.admin.InstanceStatus;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.PermitHolder.HolderInstance;
import io.dbsemaphore.admin.SemaphoreAdmin.PermitUse;
import io.dbsemaphore.domain.PermitState;
import io.dbsemaphore.domain.StoredGrant;
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
            PermitRequest request,
            int count,
            long token,
            @Nullable SemaphoreInstance keeper,
            boolean keeperAlive) {

        PermitHolder toContract() {
            return new PermitHolder(
                    request.externalId(),
                    request.owner(),
                    Optional.ofNullable(request.label()),
                    count,
                    token,
                    request.acquiredAt(),
                    request.expiresAt(),
                    Optional.ofNullable(request.instance()).map(this::instance));
        }

        private HolderInstance instance(long id) {
            return keeper == null
                    ? new HolderInstance(id, Optional.empty(), Optional.empty(), false, Optional.empty())
                    : keeper.toKeeper(keeperAlive);
        }
    }

    @Query("""
            select w from SemaphoreWaiter w
            where w.semaphoreId = :semaphoreId and w.waiting > 0 and w.expiresAt > utc_now()
            order by w.since, w.instance""")
    List<SemaphoreWaiter> findWaiting(long semaphoreId);

    @Query("""
            select new io.dbsemaphore.persistence.SemaphoreReports$Holder(
                r, p.count, p.token, i, case when i.expiresAt > utc_now() then true else false end)
            from Permit p join PermitRequest r on r.id = p.requestId left join SemaphoreInstance i on i.id = r.instance
            where p.semaphoreId = :semaphoreId and p.state = ACQUIRED and p.token > :afterToken
              and (locate(:containing, r.owner) > 0 or locate(lower(:containing), lower(r.owner)) > 0
                or locate(:containing, r.externalId) > 0 or locate(lower(:containing), lower(r.externalId)) > 0
                or locate(:containing, r.label) > 0 or locate(lower(:containing), lower(r.label)) > 0)
            order by p.token""")
    List<Holder> findHolders(long semaphoreId, String containing, long afterToken, Limit limit);

    /** The number of permits that the callers of a share hold. */
    record ShareHeld(String share, long held) {}

    @Query("""
            select new io.dbsemaphore.persistence.SemaphoreReports$ShareHeld(r.sharePath, sum(p.count))
            from Permit p join PermitRequest r on r.id = p.requestId
            where p.semaphoreId = :semaphoreId and p.state = ACQUIRED and r.sharePath is not null
            group by r.sharePath order by sum(p.count) desc, r.sharePath""")
    List<ShareHeld> findShares(long semaphoreId, Limit limit);

    /** The permits of one request, held or released, as read: two queries may find a request in different states. */
    record Use(
            String externalId,
            String owner,
            @Nullable String label,
            int count,
            long token,
            PermitState state,
            LocalDateTime createdAt,
            LocalDateTime updatedAt,
            @Nullable LocalDateTime expiresAt) {

        PermitUse toContract() {
            return new PermitUse(
                    externalId,
                    owner,
                    Optional.ofNullable(label),
                    count,
                    token,
                    StoredGrant.instant(createdAt),
                    state == PermitState.RELEASED ? Optional.of(StoredGrant.instant(updatedAt)) : Optional.empty(),
                    Optional.ofNullable(expiresAt).map(StoredGrant::instant));
        }
    }

    @Query("""
            select new io.dbsemaphore.persistence.SemaphoreReports$Use(
                r.externalId, r.owner, r.label, p.count, p.token, r.state, r.createdAt, r.updatedAt, r.expiresAt)
            from Permit p join PermitRequest r on r.id = p.requestId
            where p.semaphoreId = :semaphoreId and p.state = ACQUIRED and r.createdAt <= :until
            order by p.token desc""")
    List<Use> findUses(long semaphoreId, LocalDateTime until, Limit limit);

    /**
     * Finds released permits, with tokens up to a given one, that were held at some time in a period; most recently acquired first. The
     * scan reads a limited number of permits.
     */
    @Query("""
            select new io.dbsemaphore.persistence.SemaphoreReports$Use(
                r.externalId, r.owner, r.label, u.count, u.token, r.state, r.createdAt, r.updatedAt, r.expiresAt)
            from (select p.requestId as requestId, p.count as count, p.token as token from Permit p
                  where p.semaphoreId = :semaphoreId and p.state = RELEASED and p.token <= :upToToken
                  order by p.token desc limit :scanned) u
              join PermitRequest r on r.id = u.requestId
            where r.updatedAt >= :from and r.createdAt <= :to
            order by u.token desc""")
    List<Use> findUses(
            long semaphoreId, long upToToken, LocalDateTime from, LocalDateTime to, int scanned, Limit limit);

    record Instance(SemaphoreInstance registered, boolean alive, long requests) {

        InstanceStatus toContract() {
            return registered.toStatus(alive, requests);
        }
    }

    @Query("""
            select new io.dbsemaphore.persistence.SemaphoreReports$Instance(
                i, case when i.expiresAt > utc_now() then true else false end, count(r.id))
            from SemaphoreInstance i left join PermitRequest r on r.instance = i.id and r.state = ACQUIRED
            group by i order by i.startedAt desc, i.id desc""")
    List<Instance> findInstances(Limit limit);

    /** Finds the latest audit entries for a name, newest first, among those with ids in a range. */
    @Query("select c from CapacityAudit c where c.semaphoreName = :name and c.id between :first and :last"
            + " order by c.changedAt desc, c.id desc")
    List<CapacityAudit> findChanges(String name, long first, long last, Limit limit);
}
