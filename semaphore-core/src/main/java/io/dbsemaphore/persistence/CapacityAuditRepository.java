package io.dbsemaphore.persistence;

import io.dbsemaphore.CapacityChange;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.List;
import org.springframework.data.domain.Limit;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

interface CapacityAuditRepository extends Repository<CapacityAudit, Long> {

    /** One change. */
    record Change(String name, int from, int to, String changedBy, String reason, LocalDateTime changedAt) {

        CapacityChange toContract() {
            return new CapacityChange(name, from, to, changedBy, reason, StoredGrant.instant(changedAt));
        }
    }

    @Modifying
    @Query("insert into CapacityAudit (id, semaphoreName, fromCapacity, toCapacity, changedBy, reason, changedAt)"
            + " values (:id, :name, :from, :to, :changedBy, :reason, utc_now())")
    int insert(long id, String name, int from, int to, String changedBy, String reason);

    @Query("""
            select new io.dbsemaphore.persistence.CapacityAuditRepository$Change(
                c.semaphoreName, c.fromCapacity, c.toCapacity, c.changedBy, c.reason, c.changedAt)
            from CapacityAudit c where c.semaphoreName = :name
            order by c.changedAt desc, c.id desc""")
    List<Change> findByName(String name);

    @Query("select c.id from CapacityAudit c where c.changedAt <= utc_plus_millis(:minusMillis) order by c.id")
    List<Long> findBefore(long minusMillis, Limit limit);

    @Modifying
    @Query("delete from CapacityAudit c where c.id in :ids")
    int delete(Collection<Long> ids);
}
