package io.dbsemaphore.persistence;

import io.dbsemaphore.admin.CapacityChange.ForcedRelease;
import io.dbsemaphore.persistence.PermitTable.NamedPermit;
import io.dbsemaphore.persistence.unit.Sql;
import io.dbsemaphore.persistence.unit.TimeOrderedIds;
import java.util.Arrays;
import java.util.Collection;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;

/** The audit in the database. All methods require an open transaction. */
final class CapacityHistory {

    /** In the place of an operator's name. */
    private static final String LIBRARY = "dbsemaphore";

    /** What operators did: the ids from here on, which are positive. */
    static final long OPERATORS = 0;

    /** Reclaims: the ids from here on, which are negative. They ascend with time, too. */
    static final long RECLAIMS = Long.MIN_VALUE;

    private static final String INSERT = """
            insert into capacity_change(id, semaphore_name, from_capacity, to_capacity,
                changed_by, reason, external_id, owner, permits, changed_at)
            values (?, ?, ?, ?, ?, ?, ?, ?, ?, utc_now())""";

    /** By the primary key, whose values ascend with time: no index has the forced releases alone. */
    private static final String LATEST_EXTERNAL_IDS =
            "select external_id from capacity_change where id > 0 order by id desc limit ?";

    private final Sql sql;
    private final TimeOrderedIds ids;

    CapacityHistory(Sql sql, TimeOrderedIds ids) {
        this.sql = sql;
        this.ids = ids;
    }

    /**
     * An entry.
     *
     * @param by the operator; null for a reclaim by the library
     * @param released what was released; null for a changed capacity
     */
    record Entry(
            String name,
            int from,
            int to,
            @Nullable String by,
            String reason,
            @Nullable ForcedRelease released) {

        /** Permits that were released without their holder, which leaves the capacity as it is. */
        static Entry released(NamedPermit permit, String externalId, String owner, @Nullable String by, String reason) {
            ForcedRelease released = new ForcedRelease(externalId, owner, permit.count());
            return new Entry(permit.name(), permit.capacity(), permit.capacity(), by, reason, released);
        }
    }

    /** Queues the insert of these entries. */
    void add(Collection<Entry> entries) {
        sql.insert(INSERT, entries.stream().map(this::row).toList());
    }

    private List<@Nullable Object> row(Entry entry) {
        ForcedRelease released = entry.released();
        return Arrays.asList(
                ids.next() | (entry.by() == null ? RECLAIMS : OPERATORS),
                entry.name(),
                entry.from(),
                entry.to(),
                entry.by() == null ? LIBRARY : entry.by(),
                entry.reason(),
                released == null ? null : released.externalId(),
                released == null ? null : released.owner(),
                released == null ? null : released.permits());
    }

    /** The external ids of the requests that were released by force, among so many of the latest entries. */
    Set<String> latestForcedReleases(int limit) {
        return sql.read(LATEST_EXTERNAL_IDS, (row, number) -> row.getString(1), limit).stream()
                .filter(Objects::nonNull)
                .collect(Collectors.toSet());
    }
}
