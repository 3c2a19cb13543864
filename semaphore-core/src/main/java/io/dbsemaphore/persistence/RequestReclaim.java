package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.DeadInstance;
import io.dbsemaphore.domain.ReclaimReason;
import io.dbsemaphore.domain.ReclaimedRequest;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.persistence.PermitRepository.NamedPermit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
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

    private final PermitRequestTable requests;
    private final PermitTable permits;
    private final InstanceTable instances;
    private final CapacityHistory history;

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
            requests.rows().lockHeld(candidates).forEach(request -> unlocked.put(request.id(), request));
        }
        if (unlocked.isEmpty()) {
            return List.of();
        }
        Set<Long> lockedPermits = new HashSet<>();
        permits.rows().lockHeld(unlocked.keySet()).forEach(permit -> lockedPermits.add(permit.id()));
        permits.rows().findHeld(Set.copyOf(unlocked.keySet())).stream()
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
        Set<Long> taken =
                released == ids.size() ? ids : Set.copyOf(requests.rows().findReleased(ids));
        permits.rows().releaseByRequests(taken);
        Map<Long, List<NamedPermit>> held =
                permits.rows().findByRequests(taken).stream().collect(Collectors.groupingBy(NamedPermit::requestId));
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
            return requests.rows().releaseStale(ids, -stale.staleAfterMillis());
        }
        if (reason instanceof ReclaimReason.OwnerDead dead) {
            return requests.rows().releaseOfOwner(ids, dead.owner(), StoredGrant.utc(dead.since()));
        }
        return reason instanceof ReclaimReason.InstanceGone
                ? requests.rows().releaseOfSuspect(ids)
                : requests.rows().releaseExpired(ids);
    }
}
