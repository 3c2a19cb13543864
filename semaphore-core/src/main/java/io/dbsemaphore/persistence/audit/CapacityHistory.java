package io.dbsemaphore.persistence.audit;

import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.SemaphoreAdmin.Reclaim;
import io.dbsemaphore.persistence.unit.LazyRepositories;
import io.dbsemaphore.persistence.unit.Sql;
import io.dbsemaphore.persistence.unit.TimeOrderedIds;
import java.time.Duration;
import java.time.LocalDateTime;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.data.domain.Limit;

/** The audit in the database. All methods require an open transaction. */
public final class CapacityHistory {

    public static final Class<?> ENTITY = CapacityAudit.class;

    public static final Class<?> REPOSITORY = CapacityAuditRepository.class;

    /** In the place of an operator's name. */
    private static final String LIBRARY = "dbsemaphore";

    /** Makes an id negative; such ids ascend with time, too. */
    private static final long OF_A_RECLAIM = Long.MIN_VALUE;

    private static final int MAX_ROWS = 500;

    private final CapacityAuditRepository rows;
    private final TimeOrderedIds ids;
    private final Sql sql;
    private final String insert;
    private final String row;

    public CapacityHistory(
            LazyRepositories repositories, TimeOrderedIds ids, Sql sql, String utcNow, String tablePrefix) {
        this.rows = repositories.get(CapacityAuditRepository.class);
        this.ids = ids;
        this.sql = sql;
        this.insert = "insert into " + tablePrefix + "capacity_change (id, semaphore_name, from_capacity, to_capacity,"
                + " changed_by, reason, external_id, owner, permits, changed_at) values ";
        this.row = "(?, ?, ?, ?, ?, ?, ?, ?, ?, " + utcNow + ")";
    }

    /**
     * Permits of one semaphore that a request held.
     *
     * @param capacity the capacity of the semaphore
     */
    public record Reclaimed(String name, int capacity, String externalId, String owner, int permits, String reason) {}

    /** Queues the entries of reclaims, many in one statement, for the next round trip of the transaction. */
    public void reclaimed(List<Reclaimed> reclaims) {
        for (int from = 0; from < reclaims.size(); from += MAX_ROWS) {
            List<Reclaimed> some = reclaims.subList(from, Math.min(from + MAX_ROWS, reclaims.size()));
            List<Object> values = new ArrayList<>();
            some.forEach(each -> values.addAll(List.of(
                    ids.next() | OF_A_RECLAIM,
                    each.name(),
                    each.capacity(),
                    each.capacity(),
                    LIBRARY,
                    each.reason(),
                    each.externalId(),
                    each.owner(),
                    each.permits())));
            sql.update(insert + Sql.repeat(row, ", ", some.size()), values);
        }
    }

    public void changed(String name, int from, int to, String changedBy, String reason) {
        rows.insert(ids.next(), name, from, to, changedBy, reason);
    }

    public void released(
            String name, int capacity, CapacityChange.ForcedRelease forced, String releasedBy, String reason) {
        rows.insertForced(
                ids.next(), name, capacity, releasedBy, reason, forced.externalId(), forced.owner(), forced.permits());
    }

    /** The reclaims of a name, newest first. */
    public List<Reclaim> findReclaims(String name, Limit limit) {
        return rows.findReclaims(name, limit).stream()
                .map(CapacityAuditRepository.Change::toReclaim)
                .toList();
    }

    /** What operators did to a name, newest first. */
    public List<CapacityChange> find(String name, Limit limit) {
        return rows.findByName(name, limit).stream()
                .map(CapacityAuditRepository.Change::toContract)
                .toList();
    }

    /** The external ids of the requests that were released by force, among so many of the latest entries. */
    public Set<String> latestForcedReleases(int limit) {
        return rows.findLatestExternalIds(Limit.of(limit)).stream()
                .filter(Objects::nonNull)
                .collect(Collectors.toSet());
    }

    /** Deletes so many of the operators' entries that are older than that. Returns how many there were. */
    public int deleteBefore(Duration retention, int limit) {
        return delete(rows.findBefore(-retention.toMillis(), Limit.of(limit)));
    }

    /** Deletes so many of the reclaims that are older than that. Returns how many there were. */
    public int deleteReclaimsBefore(LocalDateTime now, Duration retention, int limit) {
        long upTo = TimeOrderedIds.upperBound(now, retention) | OF_A_RECLAIM;
        return delete(rows.findReclaimsBefore(upTo, -retention.toMillis(), Limit.of(limit)));
    }

    private int delete(List<Long> old) {
        return old.isEmpty() ? 0 : rows.delete(old);
    }
}
