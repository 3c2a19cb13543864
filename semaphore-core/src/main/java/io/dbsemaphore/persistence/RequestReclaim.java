package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.DeadInstance;
import io.dbsemaphore.domain.ReclaimReason;
import io.dbsemaphore.domain.ReclaimedRequest;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.persistence.instance.RegisteredInstances;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * Reclaims requests whose holder is gone, within the current transaction. It never waits for a lock: a request or permit
 * that another transaction has locked is being released, renewed, or checked by a business transaction, and counts as held.
 * The update checks again the condition under which a candidate was read.
 */
final class RequestReclaim {

    private final PermitRequestRepository requests;
    private final PermitRepository permits;
    private final RegisteredInstances instances;

    RequestReclaim(PermitRequestRepository requests, PermitRepository permits, RegisteredInstances instances) {
        this.requests = requests;
        this.permits = permits;
        this.instances = instances;
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
        Set<Long> lockedPermits = new HashSet<>();
        permits.lockHeld(unlocked.keySet()).forEach(permit -> lockedPermits.add(permit.id()));
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
        Map<Long, Map<String, Integer>> held = new HashMap<>();
        permits.findByRequests(taken)
                .forEach(permit -> held.computeIfAbsent(permit.requestId(), id -> new HashMap<>())
                        .put(permit.name(), permit.count()));
        return locked.values().stream()
                .filter(request -> taken.contains(request.id()))
                .map(request -> new ReclaimedRequest(
                        request.externalId(),
                        held.getOrDefault(request.id(), Map.of()),
                        reason instanceof ReclaimReason.InstanceGone ? deadInstanceOf(request) : Optional.empty()))
                .toList();
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
}
