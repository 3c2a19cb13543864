package io.dbsemaphore.persistence.audit;

import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.CapacityChange.ForcedRelease;
import io.dbsemaphore.admin.SemaphoreAdmin.Reclaim;
import io.dbsemaphore.domain.StoredGrant;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.data.domain.Limit;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

interface CapacityAuditRepository extends Repository<CapacityAudit, Long> {

    record Change(
            String name,
            int from,
            int to,
            String changedBy,
            String reason,
            LocalDateTime changedAt,
            @Nullable String externalId,
            @Nullable String owner,
            @Nullable Integer permits) {

        CapacityChange toContract() {
            return new CapacityChange(
                    name, from, to, changedBy, reason, StoredGrant.instant(changedAt), Optional.ofNullable(forced()));
        }

        Reclaim toReclaim() {
            return new Reclaim(
                    name,
                    String.valueOf(externalId),
                    String.valueOf(owner),
                    permits == null ? 0 : permits,
                    reason,
                    StoredGrant.instant(changedAt));
        }

        private @Nullable ForcedRelease forced() {
            return externalId == null || owner == null || permits == null
                    ? null
                    : new ForcedRelease(externalId, owner, permits);
        }
    }

    @Modifying
    @Query("insert into CapacityAudit (id, semaphoreName, fromCapacity, toCapacity, changedBy, reason, changedAt)"
            + " values (:id, :name, :from, :to, :changedBy, :reason, utc_now())")
    int insert(long id, String name, int from, int to, String changedBy, String reason);

    /** The audit of a forced release, which leaves the capacity as it is. */
    @Modifying
    @Query(
            "insert into CapacityAudit (id, semaphoreName, fromCapacity, toCapacity, changedBy, reason, changedAt,"
                    + " externalId, owner, permits)"
                    + " values (:id, :name, :capacity, :capacity, :releasedBy, :reason, utc_now(), :externalId, :owner, :permits)")
    int insertForced(
            long id,
            String name,
            int capacity,
            String releasedBy,
            String reason,
            String externalId,
            String owner,
            int permits);

    @Query("""
            select new io.dbsemaphore.persistence.audit.CapacityAuditRepository$Change(
                c.semaphoreName, c.fromCapacity, c.toCapacity, c.changedBy, c.reason, c.changedAt,
                c.externalId, c.owner, c.permits)
            from CapacityAudit c where c.semaphoreName = :name and c.id > 0
            order by c.changedAt desc, c.id desc""")
    List<Change> findByName(String name, Limit limit);

    @Query("""
            select new io.dbsemaphore.persistence.audit.CapacityAuditRepository$Change(
                c.semaphoreName, c.fromCapacity, c.toCapacity, c.changedBy, c.reason, c.changedAt,
                c.externalId, c.owner, c.permits)
            from CapacityAudit c where c.semaphoreName = :name and c.id < 0
            order by c.changedAt desc, c.id desc""")
    List<Change> findReclaims(String name, Limit limit);

    /** By the primary key, whose values ascend with time: no index has the forced releases alone. */
    @Query("select c.externalId from CapacityAudit c where c.id > 0 order by c.id desc")
    List<@Nullable String> findLatestExternalIds(Limit limit);

    @Query(
            "select c.id from CapacityAudit c where c.id > 0 and c.changedAt <= utc_plus_millis(:minusMillis) order by c.id")
    List<Long> findBefore(long minusMillis, Limit limit);

    /** Up to an id, above which none is as old: the scan ends there. */
    @Query("""
            select c.id from CapacityAudit c
            where c.id <= :upTo and c.changedAt <= utc_plus_millis(:minusMillis) order by c.id""")
    List<Long> findReclaimsBefore(long upTo, long minusMillis, Limit limit);

    @Modifying
    @Query("delete from CapacityAudit c where c.id in :ids")
    int delete(Collection<Long> ids);
}
