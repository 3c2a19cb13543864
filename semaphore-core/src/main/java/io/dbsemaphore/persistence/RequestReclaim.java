package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.DeadInstance;
import io.dbsemaphore.domain.HolderScans;
import io.dbsemaphore.domain.ReclaimProgress;
import io.dbsemaphore.domain.ReclaimReason;
import io.dbsemaphore.domain.ReclaimedRequest;
import io.dbsemaphore.domain.Shortfall;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.persistence.PermitTable.NamedPermit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.stream.Collectors;

/**
 * Reclaims requests whose holder is gone, within the current transaction. It never waits for a lock: a request or permit
 * that another transaction has locked is being released, renewed, or checked by a business transaction, and counts as held.
 * The update checks again the condition under which a candidate was read. Each reclaim is recorded in the audit.
 */
final class RequestReclaim {

    /** For an IN-list of more than 200 values, MySQL uses statistics instead of index dives, and may scan the table. */
    private static final int PAGE = 200;

    private final PermitRequestTable requests;
    private final PermitTable permits;
    private final InstanceTable instances;
    private final CapacityHistory history;
    private final HolderScans<Boolean> scans = new HolderScans<>();

    RequestReclaim(Tables tables) {
        this.requests = tables.requests();
        this.permits = tables.permits();
        this.instances = tables.instances();
        this.history = tables.history();
    }

    /** Releases the candidates that are not locked and to which the reason still applies, and returns what they held. */
    List<ReclaimedRequest> release(Collection<Long> candidates, ReclaimReason reason) {
        SortedMap<Long, PermitRequest> unlocked = new TreeMap<>();
        if (!candidates.isEmpty()) {
            requests.lockHeld(candidates).forEach(request -> unlocked.put(request.id(), request));
        }
        if (unlocked.isEmpty()) {
            return List.of();
        }
        Set<Long> lockedPermits = permits.lockHeld(unlocked.keySet());
        permits.findHeld(Set.copyOf(unlocked.keySet())).stream()
                .filter(permit -> !lockedPermits.contains(permit.id()))
                .forEach(permit -> unlocked.remove(permit.requestId()));
        return unlocked.isEmpty() ? List.of() : releaseLocked(unlocked, reason);
    }

    private List<ReclaimedRequest> releaseLocked(SortedMap<Long, PermitRequest> locked, ReclaimReason reason) {
        Set<Long> ids = locked.keySet();
        int released = compareAndSet(ids, reason);
        if (released == 0) {
            return List.of();
        }
        // no other transaction can have released them, since their rows are locked
        Set<Long> taken = released == ids.size() ? ids : Set.copyOf(requests.findReleased(ids));
        permits.releaseByRequests(taken);
        Map<Long, List<NamedPermit>> held =
                permits.findByRequests(taken).stream().collect(Collectors.groupingBy(NamedPermit::requestId));
        List<ReclaimedRequest> reclaimed = new ArrayList<>();
        List<CapacityHistory.Reclaimed> entries = new ArrayList<>();
        for (PermitRequest request : locked.values()) {
            if (taken.contains(request.id())) {
                List<NamedPermit> its = held.getOrDefault(request.id(), List.of());
                Optional<DeadInstance> dead =
                        reason instanceof ReclaimReason.InstanceGone ? deadInstanceOf(request) : Optional.empty();
                reclaimed.add(new ReclaimedRequest(
                        request.externalId(),
                        its.stream().collect(Collectors.toMap(NamedPermit::name, NamedPermit::count)),
                        dead));
                String inWords = inWords(reason, dead);
                its.forEach(permit -> entries.add(new CapacityHistory.Reclaimed(
                        permit.name(),
                        permit.capacity(),
                        request.externalId(),
                        request.owner(),
                        permit.count(),
                        inWords)));
            }
        }
        history.reclaimed(entries);
        return reclaimed;
    }

    private static String inWords(ReclaimReason reason, Optional<DeadInstance> dead) {
        if (reason instanceof ReclaimReason.Stale stale) {
            return "It has no time to live, and was neither acquired nor renewed for %d s"
                    .formatted(Duration.ofMillis(stale.staleAfterMillis()).toSeconds());
        }
        if (reason instanceof ReclaimReason.OwnerDead) {
            return "Its owner was found dead";
        }
        if (reason instanceof ReclaimReason.Expired) {
            return "Its time to live had passed";
        }
        return dead.flatMap(instance -> instance.name()
                        .map(name -> "Instance %s had sent no heartbeat for %d s"
                                .formatted(
                                        name,
                                        instance.sinceHeartbeat()
                                                .orElse(Duration.ZERO)
                                                .toSeconds())))
                .orElse("The instance that kept it alive is not registered any more");
    }

    /** From the cached suspect instances, so that no statement is added to the acquire. */
    private Optional<DeadInstance> deadInstanceOf(PermitRequest request) {
        Long instance = request.instance();
        return instance == null ? Optional.empty() : Optional.of(instances.find(instance));
    }

    private int compareAndSet(Collection<Long> ids, ReclaimReason reason) {
        if (reason instanceof ReclaimReason.Stale stale) {
            return requests.releaseStale(ids, -stale.staleAfterMillis());
        }
        if (reason instanceof ReclaimReason.OwnerDead dead) {
            return requests.releaseOfOwner(ids, dead.owner(), StoredGrant.utc(dead.since()));
        }
        return reason instanceof ReclaimReason.InstanceGone
                ? requests.releaseOfSuspect(ids)
                : requests.releaseExpired(ids);
    }

    /**
     * Releases the orphaned requests that hold permits of these semaphores, as many as an acquire needs whose transaction has locked
     * the semaphores, and returns them: expired requests and those of dead instances. The oldest expired requests are found by an
     * index, whatever the number of holders; usually there are none. Everything else scans all holders of the semaphores.
     */
    List<ReclaimedRequest> releaseFor(Collection<Shortfall> shortfalls) {
        ReclaimProgress progress = new ReclaimProgress(shortfalls);
        boolean complete = releaseOldestExpired(progress);
        List<Shortfall> due = progress.stillShort().stream()
                .filter(shortfall -> scans.recent(shortfall).isEmpty())
                .toList();
        if (!due.isEmpty()) {
            scan(progress, due, complete);
        }
        return progress.released();
    }

    /** Returns whether all expired requests were among them. */
    private boolean releaseOldestExpired(ReclaimProgress progress) {
        List<Long> oldest = requests.findOldestExpired(PAGE);
        if (!oldest.isEmpty()) {
            releaseSome(
                    progress,
                    permits.findRequestsHolding(oldest, Shortfall.ids(progress.stillShort())),
                    new ReclaimReason.Expired());
        }
        return oldest.size() < PAGE;
    }

    private void scan(ReclaimProgress progress, List<Shortfall> due, boolean expiredAreDone) {
        List<Long> ids = Shortfall.ids(due);
        long begin = scans.begin();
        int before = progress.released().size();
        if (!expiredAreDone) {
            releaseSome(progress, requests.findExpired(ids, progress.limit()), new ReclaimReason.Expired());
        }
        Set<Long> dead = progress.stillShort().isEmpty() ? Set.of() : instances.findDead(ids);
        if (!dead.isEmpty()) {
            releaseSome(
                    progress, requests.findOfInstances(ids, dead, progress.limit()), new ReclaimReason.InstanceGone());
        }
        if (progress.released().size() == before) { // there was nothing to reclaim
            scans.record(due, begin, shortfall -> true);
        }
    }

    /** Releases as many of the candidates as are needed, skipping those that another transaction has locked. */
    private void releaseSome(ReclaimProgress progress, Collection<Long> found, ReclaimReason reason) {
        List<Long> candidates =
                found.stream().filter(progress::isNew).distinct().toList();
        int from = 0;
        while (from < candidates.size() && !progress.stillShort().isEmpty()) {
            List<Long> some = candidates.subList(from, Math.min(candidates.size(), from + progress.next()));
            progress.add(some, release(some, reason));
            from += some.size();
        }
    }
}
