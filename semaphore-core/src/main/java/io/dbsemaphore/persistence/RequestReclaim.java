package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.DeadInstance;
import io.dbsemaphore.domain.HolderScans;
import io.dbsemaphore.domain.ReclaimedRequest;
import io.dbsemaphore.domain.Shortfall;
import io.dbsemaphore.persistence.PermitTable.NamedPermit;
import io.dbsemaphore.persistence.unit.Sql;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reclaims requests whose holder is gone, within the current transaction. It never waits for a lock: a locked request or permit
 * is being released, renewed, or checked by a business transaction, and counts as held. The statement that locks a candidate
 * checks the condition again. Each reclaim is recorded in the audit.
 */
final class RequestReclaim {

    /** For an IN-list of 200 values or more, MySQL uses statistics instead of index dives, and may scan the table. */
    private static final int PAGE = 199;

    /** The maximum for one acquire, whose transaction must be short. Later acquires and the sweep reclaim the rest. */
    private static final int MAX_RELEASED = 500;

    private static final String FIND =
            "select r.id from permit_request r where r.state = 'ACQUIRED' and r.id > ? and %s order by r.id limit ?";

    private static final String FIND_OF_SEMAPHORES = """
            select distinct r.id from permit_request r join permit p on p.permit_request_id = r.id
            where p.semaphore_id in (?) and p.state = 'ACQUIRED' and r.state = 'ACQUIRED' and %s
            order by r.id limit ?""";

    private static final String LOCK_SKIP_LOCKED = """
            select r.id from permit_request r where r.id in (?) and r.state <> 'RELEASED' and %s
            order by r.id for update skip locked""";

    private final Tables tables;
    private final Sql sql;
    private final PermitTable permits;
    private final HolderScans<Boolean> scans = new HolderScans<>();
    private final HolderScans<Boolean> searches = new HolderScans<>();

    RequestReclaim(Tables tables) {
        this.tables = tables;
        this.sql = tables.sql();
        this.permits = tables.permits();
    }

    /** Finds, without a lock, the next requests by id that may be reclaimed. */
    List<Long> find(ReclaimReason reason, long after, int limit) {
        return sql.read(FIND.formatted(reason.condition()), Sql.ID, values(after, reason, limit));
    }

    /** Finds the requests that hold permits of these semaphores and may be reclaimed. */
    List<Long> find(Collection<Long> semaphoreIds, ReclaimReason reason, int limit) {
        return sql.read(FIND_OF_SEMAPHORES.formatted(reason.condition()), Sql.ID, values(semaphoreIds, reason, limit));
    }

    /** Whether requests that hold permits of these semaphores may be reclaimed. Does not search again if a recent search found none. */
    boolean isPossible(Collection<Long> semaphoreIds) {
        List<Long> due = semaphoreIds.stream()
                .filter(id -> searches.recent(id).isEmpty())
                .toList();
        long begin = searches.begin();
        boolean possible = !due.isEmpty()
                && (!find(due, ReclaimReason.expired(), 1).isEmpty()
                        || !tables.instances().findDead(due).isEmpty());
        if (!possible) {
            searches.record(due, begin, id -> true);
        }
        return possible;
    }

    private static Object[] values(Object first, ReclaimReason reason, Object... more) {
        return Stream.of(Stream.of(first), reason.values().stream(), Stream.of(more))
                .flatMap(each -> each)
                .toArray();
    }

    /** Releases the candidates that are not locked and to which the reason still applies, and returns them. */
    List<ReclaimedRequest> release(Collection<Long> candidates, ReclaimReason reason) {
        SortedMap<Long, List<Long>> permitIds = permits.lockSkipLocked(permits.findHeld(candidates));
        Set<Long> released = permitIds.keySet();
        if (!released.isEmpty()) {
            released.retainAll(Set.copyOf(
                    sql.read(LOCK_SKIP_LOCKED.formatted(reason.condition()), Sql.ID, values(released, reason))));
        }
        if (released.isEmpty()) {
            return List.of();
        }
        tables.queueRelease(permitIds);
        Map<Long, List<NamedPermit>> held =
                permits.findByRequests(released).stream().collect(Collectors.groupingBy(NamedPermit::requestId));
        List<ReclaimedRequest> reclaimed = new ArrayList<>();
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (PermitRequest request : tables.requests().findByIds(released)) {
            List<NamedPermit> its = held.getOrDefault(request.id(), List.of());
            Optional<DeadInstance> dead =
                    Optional.ofNullable(request.instance()).map(reason.dead()::get);
            reclaimed.add(new ReclaimedRequest(
                    request.externalId(),
                    its.stream().collect(Collectors.toMap(NamedPermit::name, NamedPermit::count)),
                    dead));
            String inWords = dead.flatMap(RequestReclaim::inWords).orElse(reason.inWords());
            its.forEach(permit -> rows.add(tables.history().released(permit, request, null, inWords)));
        }
        tables.history().add(rows);
        return reclaimed;
    }

    private static Optional<String> inWords(DeadInstance instance) {
        return instance.name()
                .map(name -> "Instance %s had sent no heartbeat for %d s"
                        .formatted(
                                name,
                                instance.sinceHeartbeat().orElse(Duration.ZERO).toSeconds()));
    }

    /**
     * Releases requests that hold permits of these semaphores, and have expired or belong to dead instances, for an acquire whose
     * transaction has locked the semaphores. Returns the released requests. An index finds the oldest expired requests, whatever the number
     * of holders; usually there are none. If that is not enough, all holders of the semaphores are scanned.
     */
    List<ReclaimedRequest> releaseFor(Collection<Shortfall> shortfalls) {
        List<ReclaimedRequest> released = new ArrayList<>();
        List<Long> oldest = tables.requests().findOldestExpired(PAGE);
        if (!oldest.isEmpty()) {
            released.addAll(
                    release(permits.findRequestsHolding(oldest, Shortfall.ids(shortfalls)), ReclaimReason.expired()));
        }
        List<Shortfall> due = shortfalls.stream()
                .filter(each -> isShort(each, released)
                        && scans.recent(each.semaphoreId()).isEmpty())
                .toList();
        if (!due.isEmpty()) {
            scan(due, oldest.size() < PAGE, released);
        }
        return released;
    }

    private void scan(List<Shortfall> due, boolean expiredAreDone, List<ReclaimedRequest> released) {
        List<Long> ids = Shortfall.ids(due);
        long begin = scans.begin();
        int before = released.size();
        if (!expiredAreDone) {
            releaseSome(ids, ReclaimReason.expired(), released);
        }
        boolean enough = released.size() >= MAX_RELEASED || due.stream().noneMatch(each -> isShort(each, released));
        Map<Long, DeadInstance> dead = enough ? Map.of() : tables.instances().findDead(ids);
        if (!dead.isEmpty()) {
            releaseSome(ids, ReclaimReason.instanceGone(dead), released);
        }
        if (released.size() == before) { // nothing to reclaim
            scans.record(ids, begin, id -> true);
        }
    }

    private void releaseSome(List<Long> semaphoreIds, ReclaimReason reason, List<ReclaimedRequest> released) {
        released.addAll(release(find(semaphoreIds, reason, MAX_RELEASED - released.size()), reason));
    }

    private static boolean isShort(Shortfall shortfall, List<ReclaimedRequest> released) {
        return shortfall.permits()
                > released.stream()
                        .mapToLong(each -> each.permits().getOrDefault(shortfall.name(), 0))
                        .sum();
    }
}
