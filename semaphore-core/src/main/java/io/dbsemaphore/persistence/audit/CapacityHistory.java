package io.dbsemaphore.persistence.audit;

import io.dbsemaphore.CapacityChange;
import io.dbsemaphore.persistence.unit.LazyRepositories;
import io.dbsemaphore.persistence.unit.TimeOrderedIds;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.stream.Collectors;
import org.springframework.data.domain.Limit;

/** The audit in the database. All methods require an open transaction. */
public final class CapacityHistory {

    public static final Class<?> ENTITY = CapacityAudit.class;

    public static final Class<?> REPOSITORY = CapacityAuditRepository.class;

    private final CapacityAuditRepository rows;
    private final TimeOrderedIds ids;

    public CapacityHistory(LazyRepositories repositories, TimeOrderedIds ids) {
        this.rows = repositories.get(CapacityAuditRepository.class);
        this.ids = ids;
    }

    public void changed(String name, int from, int to, String changedBy, String reason) {
        rows.insert(ids.next(), name, from, to, changedBy, reason);
    }

    public void released(
            String name, int capacity, CapacityChange.ForcedRelease forced, String releasedBy, String reason) {
        rows.insertForced(
                ids.next(), name, capacity, releasedBy, reason, forced.externalId(), forced.owner(), forced.permits());
    }

    /** The entries of a name, newest first. */
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

    /** Deletes so many of the entries that are older than that. Returns how many there were. */
    public int deleteBefore(Duration retention, int limit) {
        List<Long> old = rows.findBefore(-retention.toMillis(), Limit.of(limit));
        return old.isEmpty() ? 0 : rows.delete(old);
    }
}
