package io.dbsemaphore.persistence.instance;

import io.dbsemaphore.domain.DeadInstance;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

interface InstanceRepository extends Repository<SemaphoreInstance, Long> {

    @Modifying
    @Query("insert into SemaphoreInstance (id, owner, startedAt, heartbeatAt, expiresAt)"
            + " values (:id, :owner, utc_now(), utc_now(), utc_plus_millis(:timeoutMillis))")
    int insert(long id, String owner, long timeoutMillis);

    @Modifying
    @Query("update SemaphoreInstance i set i.heartbeatAt = utc_now(), i.expiresAt = utc_plus_millis(:timeoutMillis)"
            + " where i.id = :id")
    int heartbeat(long id, long timeoutMillis);

    @Modifying
    @Query("delete from SemaphoreInstance i where i.id = :id")
    int delete(long id);

    /**
     * An instance whose heartbeat is overdue.
     *
     * @param expiresAt when its lease expired; null, like owner and heartbeat, if it is not registered
     * @param now the database's clock when the row was read
     */
    record Suspect(
            long instance,
            @Nullable LocalDateTime expiresAt,
            @Nullable String owner,
            @Nullable LocalDateTime heartbeatAt,
            LocalDateTime now) {

        /** Whether there was no heartbeat between these two reads. */
        boolean isUnchanged(Suspect other) {
            return instance == other.instance && Objects.equals(expiresAt, other.expiresAt);
        }

        DeadInstance toDead() {
            return new DeadInstance(
                    instance,
                    Optional.ofNullable(owner),
                    Optional.ofNullable(heartbeatAt).map(last -> Duration.between(last, now)));
        }
    }

    /** The instances that hold permits and whose heartbeat is overdue. */
    @Query("""
            select distinct new io.dbsemaphore.persistence.instance.InstanceRepository$Suspect(
                r.instance, i.expiresAt, i.owner, i.heartbeatAt, utc_now())
            from PermitRequest r left join SemaphoreInstance i on i.id = r.instance
            where r.state = ACQUIRED and r.instance is not null and (i.id is null or i.expiresAt <= utc_now())""")
    List<Suspect> findSuspectHolders();

    @Query("""
            select distinct new io.dbsemaphore.persistence.instance.InstanceRepository$Suspect(
                r.instance, i.expiresAt, i.owner, i.heartbeatAt, utc_now())
            from Permit p join PermitRequest r on r.id = p.requestId left join SemaphoreInstance i on i.id = r.instance
            where p.semaphoreId in :semaphoreIds and p.state = ACQUIRED and r.instance is not null
              and (i.id is null or i.expiresAt <= utc_now())""")
    List<Suspect> findSuspectHolders(Collection<Long> semaphoreIds);

    @Query("""
            select i.id from SemaphoreInstance i
            where i.expiresAt <= utc_plus_millis(:minusMillis)
              and not exists (select 1 from PermitRequest r where r.state = ACQUIRED and r.instance = i.id)""")
    List<Long> findLongExpired(long minusMillis);

    @Modifying
    @Query("delete from SemaphoreInstance i where i.id in :ids and i.expiresAt <= utc_plus_millis(:minusMillis)")
    int deleteLongExpired(Collection<Long> ids, long minusMillis);
}
