package io.dbsemaphore.persistence;

import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.CapacityChange.ForcedRelease;
import io.dbsemaphore.admin.SemaphoreAdmin.Reclaim;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.persistence.unit.Sql;
import io.dbsemaphore.persistence.unit.TimeOrderedIds;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import org.springframework.data.domain.Limit;
import org.springframework.data.jpa.repository.Modifying;
import org.springframework.data.jpa.repository.Query;
import org.springframework.data.repository.Repository;

/** The audit in the database. All methods require an open transaction. */
final class CapacityHistory {

    /** In the place of an operator's name. */
    private static final String LIBRARY = "dbsemaphore";

    /** Makes an id negative; such ids ascend with time, too. */
    private static final long OF_A_RECLAIM = Long.MIN_VALUE;

    private static final String INSERT = """
            insert into capacity_change(id, semaphore_name, from_capacity, to_capacity,
                changed_by, reason, external_id, owner, permits, changed_at)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, utc_now())""";

    /** By the primary key, whose values ascend with time: no index has the forced releases alone. */
    private static final String LATEST_EXTERNAL_IDS =
            "select external_id from capacity_change where id > 0 order by id desc limit ?";

    private final Sql sql;
    private final TimeOrderedIds ids;
    private final Supplier<Rows> rows;

    CapacityHistory(Sql sql, TimeOrderedIds ids, Supplier<Rows> rows) {
        this.sql = sql;
        this.ids = ids;
        this.rows = rows;
    }

    /**
     * Permits of one semaphore that a request held.
     *
     * @param capacity the capacity of the semaphore
     */
    record Reclaimed(String name, int capacity, String externalId, String owner, int permits, String reason) {}

    /** Queues the entries of reclaims. */
    void reclaimed(List<Reclaimed> reclaims) {
        sql.insert(
                INSERT,
                reclaims.stream()
                        .map(each -> row(
                                ids.next() | OF_A_RECLAIM,
                                each.name(),
                                each.capacity(),
                                each.capacity(),
                                LIBRARY,
                                each.reason(),
                                new ForcedRelease(each.externalId(), each.owner(), each.permits())))
                        .toList());
    }

    /** Queues the entry of a changed capacity. */
    void changed(String name, int from, int to, String changedBy, String reason) {
        sql.insert(INSERT, List.of(row(ids.next(), name, from, to, changedBy, reason, null)));
    }

    /** Queues the entry of a forced release, which leaves the capacity as it is. */
    void released(String name, int capacity, ForcedRelease forced, String releasedBy, String reason) {
        sql.insert(INSERT, List.of(row(ids.next(), name, capacity, capacity, releasedBy, reason, forced)));
    }

    private static List<@Nullable Object> row(
            long id, String name, int from, int to, String changedBy, String reason, @Nullable ForcedRelease released) {
        return released == null
                ? Arrays.asList(id, name, from, to, changedBy, reason, null, null, null)
                : Arrays.asList(
                        id,
                        name,
                        from,
                        to,
                        changedBy,
                        reason,
                        released.externalId(),
                        released.owner(),
                        released.permits());
    }

    /** The reclaims of a name, newest first. */
    List<Reclaim> findReclaims(String name, Limit limit) {
        return rows.get().findReclaims(name, limit).stream()
                .map(Rows.Change::toReclaim)
                .toList();
    }

    /** What operators did to a name, newest first. */
    List<CapacityChange> find(String name, Limit limit) {
        return rows.get().findByName(name, limit).stream()
                .map(Rows.Change::toContract)
                .toList();
    }

    /** The external ids of the requests that were released by force, among so many of the latest entries. */
    Set<String> latestForcedReleases(int limit) {
        return sql.read(LATEST_EXTERNAL_IDS, (row, number) -> row.getString(1), limit).stream()
                .filter(Objects::nonNull)
                .collect(Collectors.toSet());
    }

    /** Deletes so many of the operators' entries that are older than that. Returns how many there were. */
    int deleteBefore(Duration retention, int limit) {
        return delete(rows.get().findBefore(-retention.toMillis(), Limit.of(limit)));
    }

    /** Deletes so many of the reclaims that are older than that. Returns how many there were. */
    int deleteReclaimsBefore(LocalDateTime now, Duration retention, int limit) {
        long upTo = TimeOrderedIds.upperBound(now, retention) | OF_A_RECLAIM;
        return delete(rows.get().findReclaimsBefore(upTo, -retention.toMillis(), Limit.of(limit)));
    }

    private int delete(List<Long> old) {
        return old.isEmpty() ? 0 : rows.get().delete(old);
    }

    interface Rows extends Repository<CapacityAudit, Long> {

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
                        name,
                        from,
                        to,
                        changedBy,
                        reason,
                        StoredGrant.instant(changedAt),
                        Optional.ofNullable(forced()));
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

        @Query("""
                select new io.dbsemaphore.persistence.CapacityHistory$Rows$Change(
                    c.semaphoreName, c.fromCapacity, c.toCapacity, c.changedBy, c.reason, c.changedAt,
                    c.externalId, c.owner, c.permits)
                from CapacityAudit c where c.semaphoreName = :name and c.id > 0
                order by c.changedAt desc, c.id desc""")
        List<Change> findByName(String name, Limit limit);

        @Query("""
                select new io.dbsemaphore.persistence.CapacityHistory$Rows$Change(
                    c.semaphoreName, c.fromCapacity, c.toCapacity, c.changedBy, c.reason, c.changedAt,
                    c.externalId, c.owner, c.permits)
                from CapacityAudit c where c.semaphoreName = :name and c.id < 0
                order by c.changedAt desc, c.id desc""")
        List<Change> findReclaims(String name, Limit limit);

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
}
