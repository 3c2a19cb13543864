package io.dbsemaphore.persistence;

import io.dbsemaphore.persistence.PermitTable.NamedPermit;
import io.dbsemaphore.persistence.unit.Sql;
import io.dbsemaphore.persistence.unit.TimeOrderedIds;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.Arrays;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The audit in the database. All methods require an open transaction. */
record CapacityHistory(Sql sql, TimeOrderedIds ids) {

    /** Stands for the library in the column of the operator's name. */
    private static final String LIBRARY = "dbsemaphore";

    /** Changes by operators have ids from here on, which are positive. */
    static final long OPERATORS = 0;

    /** Reclaims have ids from here on, which are negative, and also ascend with time. */
    static final long RECLAIMS = Long.MIN_VALUE;

    private static final String INSERT = """
            insert into capacity_change(id, semaphore_name, from_capacity, to_capacity,
                changed_by, reason, external_id, owner, permits, changed_at)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, utc_now())""";

    /** Reads by the primary key, which ascends with time, because no index has only the forced releases. */
    private static final String LATEST_EXTERNAL_IDS =
            "select external_id from capacity_change where id > 0 order by id desc limit ?";

    /** Reads a range of an index for each name. An entry is as old as its release. */
    private static final String TAKEN_AWAY = """
            select external_id, changed_at, all_rows() from capacity_change
            where semaphore_name in (?) and changed_at >= ? and changed_at <= ? and external_id in (?)""";

    /** The longest time from a release to its entry, in one transaction. */
    private static final Duration TIME_TO_WRITE = Duration.ofMinutes(1);

    /** Queues the insert of these rows. */
    void add(List<List<@Nullable Object>> rows) {
        sql.insert(INSERT, rows);
    }

    /** Returns the row of a changed capacity. */
    List<@Nullable Object> changed(String name, int from, int to, String by, String reason) {
        return Arrays.asList(ids.next() | OPERATORS, name, from, to, by, reason, null, null, null);
    }

    /**
     * Returns the row of permits that were released without their holder. The capacity does not change.
     *
     * @param by the operator; null for a reclaim by the library
     */
    List<@Nullable Object> released(NamedPermit permit, PermitRequest request, @Nullable String by, String reason) {
        return Arrays.asList(
                ids.next() | (by == null ? RECLAIMS : OPERATORS),
                permit.name(),
                permit.capacity(),
                permit.capacity(),
                by == null ? LIBRARY : by,
                reason,
                request.externalId(),
                request.owner(),
                permit.count());
    }

    /**
     * Selects from released requests those whose permits were released by force or reclaimed.
     *
     * @param names the semaphores of their permits
     */
    List<PermitRequest> takenAway(Collection<PermitRequest> released, Collection<String> names) {
        if (released.isEmpty()) {
            return List.of();
        }
        List<LocalDateTime> releases =
                released.stream().map(PermitRequest::updatedAt).sorted().toList();
        Map<String, LocalDateTime> last = new HashMap<>();
        sql.read(
                        TAKEN_AWAY,
                        (row, number) -> Map.entry(row.getString(1), row.getObject(2, LocalDateTime.class)),
                        names,
                        releases.get(0),
                        releases.get(releases.size() - 1).plus(TIME_TO_WRITE),
                        released.stream().map(PermitRequest::externalId).toList())
                .forEach(entry -> last.merge(entry.getKey(), entry.getValue(), (a, b) -> a.isAfter(b) ? a : b));
        return released.stream()
                .filter(each -> last.containsKey(each.externalId())
                        && !last.get(each.externalId()).isBefore(each.updatedAt()))
                .toList();
    }

    /** Returns the external ids of requests released by force, among this many latest entries. */
    Set<String> latestForcedReleases(int limit) {
        return sql.read(LATEST_EXTERNAL_IDS, (row, number) -> row.getString(1), limit).stream()
                .filter(Objects::nonNull)
                .collect(Collectors.toSet());
    }
}
