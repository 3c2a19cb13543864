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
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * Reclaims requests whose holder is gone, within the current transaction. It never waits for a lock: a request or permit
 * that another transaction has locked is being released, renewed, or checked by a business transaction, and counts as held.
 * The lock checks again the condition under which a candidate was read. Each reclaim is recorded in the audit.
 */
final class RequestReclaim {

    /** For an IN-list of more than 200 values, MySQL uses statistics instead of index dives, and may scan the table. */
    private static final int PAGE = 200;

    private static final String FIND =
            "select r.id from permit_request r where r.state = 'ACQUIRED' and r.id > ? and %s order by r.id limit ?";

    private static final String FIND_OF_SEMAPHORES = """
            select distinct r.id from permit_request r join permit p on p.permit_request_id = r.id
            where p.semaphore_id in (?) and p.state = 'ACQUIRED' and r.state = 'ACQUIRED' and %s
            order by r.id limit ?""";

    private static final String LOCK_SKIP_LOCKED = """
            select r.id from permit_request r where r.id in (?) and r.state = 'ACQUIRED' and %s
            order by r.id for update skip locked""";

    private final Sql sql;
    private final PermitRequestTable requests;
    private final PermitTable permits;
    private final InstanceTable instances;
    private final CapacityHistory history;
    private final HolderScans<Boolean> scans = new HolderScans<>();

    RequestReclaim(Tables tables) {
        this.sql = tables.sql();
        this.requests = tables.requests();
        this.permits = tables.permits();
        this.instances = tables.instances();
        this.history = tables.history();
    }

    /** The requests above an id that may be reclaimed, in the order of their ids; read without a lock. */
    List<Long> find(ReclaimReason reason, long after, int limit) {
        return sql.read(FIND.formatted(reason.condition()), Sql.ID, values(after, reason, limit));
    }

    /** Finds the requests that hold permits of these semaphores. */
    List<Long> find(Collection<Long> semaphoreIds, ReclaimReason reason, int limit) {
        return sql.read(FIND_OF_SEMAPHORES.formatted(reason.condition()), Sql.ID, values(semaphoreIds, reason, limit));
    }

    private static Object[] values(Object first, ReclaimReason reason, Object... more) {
        return Stream.of(Stream.of(first), reason.values().stream(), Stream.of(more))
                .flatMap(each -> each)
                .toArray();
    }

    /** Releases the candidates that are not locked and to which the reason still applies, and returns what they held. */
    List<ReclaimedRequest> release(Collection<Long> candidates, ReclaimReason reason) {
        Set<Long> released = releaseUnlocked(
                candidates,
                ids -> sql.read(LOCK_SKIP_LOCKED.formatted(reason.condition()), Sql.ID, values(ids, reason)));
        if (released.isEmpty()) {
            return List.of();
        }
        Map<Long, List<NamedPermit>> held =
                permits.findByRequests(released).stream().collect(Collectors.groupingBy(NamedPermit::requestId));
        List<ReclaimedRequest> reclaimed = new ArrayList<>();
        List<List<@Nullable Object>> rows = new ArrayList<>();
        for (PermitRequestTable.Found found : requests.findByIds(released)) {
            PermitRequest request = found.request();
            List<NamedPermit> its = held.getOrDefault(request.id(), List.of());
            // from the cached suspect instances, so that no statement is added to the acquire
            Optional<DeadInstance> dead = Optional.ofNullable(request.instance())
                    .filter(id -> reason.isInstanceGone())
                    .map(instances::find);
            reclaimed.add(new ReclaimedRequest(
                    request.externalId(),
                    its.stream().collect(Collectors.toMap(NamedPermit::name, NamedPermit::count)),
                    dead));
            String inWords = dead.flatMap(RequestReclaim::inWords).orElse(reason.inWords());
            its.forEach(permit -> rows.add(history.released(permit, request, null, inWords)));
        }
        history.add(rows);
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
     * Releases the held requests none of whose permits another transaction has locked, and returns their ids.
     *
     * @param lock locks those of the requests that are to be released and that no other transaction has locked
     */
    Set<Long> releaseUnlocked(Collection<Long> requestIds, Function<Set<Long>, Collection<Long>> lock) {
        SortedMap<Long, Set<Long>> permitIds = new TreeMap<>();
        requestIds.forEach(id -> permitIds.put(id, new TreeSet<>()));
        if (!requestIds.isEmpty()) {
            permits.findHeld(requestIds)
                    .forEach(permit -> permitIds
                            .computeIfAbsent(permit.requestId(), id -> new TreeSet<>())
                            .add(permit.id()));
        }
        Set<Long> held = permitsOf(permitIds);
        Set<Long> locked = held.isEmpty() ? Set.of() : permits.lockSkipLocked(held);
        permitIds.values().removeIf(its -> !locked.containsAll(its));
        if (!permitIds.isEmpty()) {
            permitIds.keySet().retainAll(Set.copyOf(lock.apply(permitIds.keySet())));
        }
        if (!permitIds.isEmpty()) {
            requests.queueRelease(permitIds.keySet());
            permits.queueRelease(permitsOf(permitIds));
        }
        return permitIds.keySet();
    }

    private static Set<Long> permitsOf(Map<Long, Set<Long>> permitIds) {
        return permitIds.values().stream().flatMap(Set::stream).collect(Collectors.toCollection(TreeSet::new));
    }

    /**
     * Releases the orphaned requests that hold permits of these semaphores, as many as an acquire needs whose transaction has locked
     * the semaphores, and returns them: expired requests and those of dead instances. The oldest expired requests are found by an
     * index, whatever the number of holders; usually there are none. Everything else scans all holders of the semaphores.
     */
    List<ReclaimedRequest> releaseFor(Collection<Shortfall> shortfalls) {
        Progress progress = new Progress(shortfalls);
        boolean complete = releaseOldestExpired(progress);
        List<Shortfall> due = progress.stillShort().stream()
                .filter(shortfall -> scans.recent(shortfall).isEmpty())
                .toList();
        if (!due.isEmpty()) {
            scan(progress, due, complete);
        }
        return progress.released;
    }

    /** Returns whether all expired requests were among them. */
    private boolean releaseOldestExpired(Progress progress) {
        List<Long> oldest = requests.findOldestExpired(PAGE);
        if (!oldest.isEmpty()) {
            releaseSome(
                    progress,
                    permits.findRequestsHolding(oldest, Shortfall.ids(progress.stillShort())),
                    ReclaimReason.expired());
        }
        return oldest.size() < PAGE;
    }

    private void scan(Progress progress, List<Shortfall> due, boolean expiredAreDone) {
        List<Long> ids = Shortfall.ids(due);
        long begin = scans.begin();
        int before = progress.released.size();
        if (!expiredAreDone) {
            releaseSome(progress, find(ids, ReclaimReason.expired(), progress.limit()), ReclaimReason.expired());
        }
        Set<Long> dead = progress.stillShort().isEmpty() ? Set.of() : instances.findDead(ids);
        if (!dead.isEmpty()) {
            ReclaimReason gone = ReclaimReason.instanceGone(dead);
            releaseSome(progress, find(ids, gone, progress.limit()), gone);
        }
        if (progress.released.size() == before) { // there was nothing to reclaim
            scans.record(due, begin, shortfall -> true);
        }
    }

    /** Releases as many of the candidates as are needed, skipping those that another transaction has locked. */
    private void releaseSome(Progress progress, Collection<Long> found, ReclaimReason reason) {
        List<Long> candidates = found.stream()
                .filter(each -> !progress.examined.contains(each))
                .distinct()
                .toList();
        int from = 0;
        while (from < candidates.size() && !progress.stillShort().isEmpty()) {
            List<Long> some = candidates.subList(from, Math.min(candidates.size(), from + progress.next()));
            progress.add(some, release(some, reason));
            from += some.size();
        }
    }

    /**
     * Counts what one acquire reclaims: as much as it needs and some more for the next acquires, but never more than a short transaction
     * can. The sweep reclaims the rest.
     */
    private static final class Progress {

        private static final int SPARE = 100;
        private static final int MAX_EXAMINED = 500;

        private final Collection<Shortfall> shortfalls;
        private final Map<String, Long> reclaimedPermits = new HashMap<>();
        private final List<ReclaimedRequest> released = new ArrayList<>();
        private final Set<Long> examined = new HashSet<>();

        Progress(Collection<Shortfall> shortfalls) {
            this.shortfalls = shortfalls;
        }

        /** The semaphores that still have too few permits available; empty once the transaction has reached its limit. */
        List<Shortfall> stillShort() {
            return examined.size() >= MAX_EXAMINED
                    ? List.of()
                    : shortfalls.stream().filter(each -> missing(each) > 0).toList();
        }

        private long missing(Shortfall shortfall) {
            return shortfall.permits() - reclaimedPermits.getOrDefault(shortfall.name(), 0L);
        }

        /** The number of candidates to examine next. Each request holds at least one permit. */
        int next() {
            return (int) Math.min(stillShort().stream().mapToLong(this::missing).sum() + SPARE, limit());
        }

        /** The number of candidates that may still be examined. */
        int limit() {
            return Math.max(1, MAX_EXAMINED - examined.size());
        }

        void add(Collection<Long> candidates, List<ReclaimedRequest> taken) {
            examined.addAll(candidates);
            released.addAll(taken);
            taken.forEach(each ->
                    each.permits().forEach((name, count) -> reclaimedPermits.merge(name, (long) count, Long::sum)));
        }
    }
}
