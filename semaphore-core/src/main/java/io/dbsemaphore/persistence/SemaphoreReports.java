package io.dbsemaphore.persistence;

import io.dbsemaphore.PermitHolder;
import io.dbsemaphore.PermitHolder.HolderInstance;
import io.dbsemaphore.SemaphoreStatus;
import io.dbsemaphore.domain.StoredGrant;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

/** The queries of the administration. Each is one read without a lock. */
interface SemaphoreReports extends Repository<Semaphore, Long> {

    /** One semaphore with its sums. */
    record Status(String name, int capacity, long held, int exclusive, long requests) {

        SemaphoreStatus toContract() {
            long available = exclusive > 0 ? 0 : Math.max(0, capacity - held);
            return new SemaphoreStatus(name, capacity, held, available, requests);
        }
    }

    /** One held permit with its request. */
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
                    leaseExpiresAt != null && leaseExpiresAt.isAfter(now));
        }
    }

    @Query("""
            select new io.dbsemaphore.persistence.SemaphoreReports$Status(
                s.name, s.capacity, coalesce(sum(p.count), 0), coalesce(max(p.exclusive), 0), count(p.id))
            from Semaphore s left join Permit p on p.semaphoreId = s.id and p.state = ACQUIRED
            where s.name = :name
            group by s.id, s.name, s.capacity""")
    Optional<Status> findStatus(String name);

    @Query("""
            select new io.dbsemaphore.persistence.SemaphoreReports$Status(
                s.name, s.capacity, coalesce(sum(p.count), 0), coalesce(max(p.exclusive), 0), count(p.id))
            from Semaphore s left join Permit p on p.semaphoreId = s.id and p.state = ACQUIRED
            group by s.id, s.name, s.capacity
            order by s.name""")
    List<Status> findStatuses();

    @Query("""
            select new io.dbsemaphore.persistence.SemaphoreReports$Holder(
                r.externalId, r.owner, p.count, p.token, r.createdAt, r.expiresAt,
                r.instance, i.owner, i.heartbeatAt, i.expiresAt, utc_now())
            from Permit p join PermitRequest r on r.id = p.requestId left join SemaphoreInstance i on i.id = r.instance
            where p.semaphoreId = :semaphoreId and p.state = ACQUIRED
            order by p.token""")
    List<Holder> findHolders(long semaphoreId);

    /** Whether an instance is registered. */
    @Query("select count(i) from SemaphoreInstance i where i.id = :id")
    long countInstances(long id);
}
