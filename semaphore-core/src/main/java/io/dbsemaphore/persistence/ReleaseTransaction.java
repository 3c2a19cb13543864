package io.dbsemaphore.persistence;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.domain.PartialReleaseException;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.jdbc.StatementQueue.Result;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.SortedSet;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Function;
import java.util.stream.Collectors;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases a request: compare-and-set, then its permits, at once. No semaphore row is locked, so a release contends with
 * nobody but a transaction that checked these very permits.
 */
public final class ReleaseTransaction {

    private static final Logger log = LoggerFactory.getLogger(ReleaseTransaction.class);

    private final ShortTransaction transaction;
    private final PermitRequestRepository requests;
    private final PermitRepository permits;
    private final ReleaseStatements statements;

    ReleaseTransaction(
            ShortTransaction transaction,
            PermitRequestRepository requests,
            PermitRepository permits,
            ReleaseStatements statements) {
        this.statements = statements;
        this.transaction = transaction;
        this.requests = requests;
        this.permits = permits;
    }

    /** Releases what was granted, with the commit. */
    public ReleaseOutcome release(StoredGrant grant) {
        Result<Integer> released = transaction.execute(() -> statements.release(grant.requestId()));
        return released.get() == 0 ? ReleaseOutcome.ALREADY_RELEASED : ReleaseOutcome.RELEASED;
    }

    /**
     * Releases the request with this external id; empty when another transaction has locked it or its permits, which is
     * not waited for.
     */
    public Optional<ReleaseOutcome> releaseUnlessLocked(String externalId) {
        return transaction.execute(() -> releaseUnlessLockedWithin(externalId));
    }

    /**
     * Releases those of these requests that, with all of their permits, nobody else has locked.
     *
     * @return what became of each request, by its key; without those that somebody has locked
     */
    public Map<Long, ReleaseOutcome> releaseUnlocked(Set<Long> requestIds) {
        return transaction.execute(() -> releaseUnlockedWithin(requestIds));
    }

    /**
     * Releases those of these requests whose permits are held and not locked by somebody else, by one transaction. Who has
     * {@linkplain io.dbsemaphore.SemaphoreOperations#requireHeld checked} a grant has locked its permits, perhaps for long;
     * its request nobody has locked for longer than a transaction of this library lasts.
     *
     * @param permitIds the keys of the permits of each request, by its key
     * @return what became of each request, by its key; without those that somebody has locked
     * @throws PartialReleaseException when a request was released by somebody else meanwhile; nothing is released
     */
    public Map<Long, ReleaseOutcome> releaseFree(SortedMap<Long, List<Long>> permitIds) {
        return transaction.execute(() -> releaseFreeWithin(permitIds, release -> {
            statements.flush();
            return outcomes(permitIds.keySet(), release.released());
        }));
    }

    private Map<Long, ReleaseOutcome> outcomes(Set<Long> requestIds, Set<Long> released) {
        Map<Long, ReleaseOutcome> outcomes = new HashMap<>();
        released.forEach(id -> outcomes.put(id, ReleaseOutcome.RELEASED));
        Set<Long> others = new TreeSet<>(requestIds);
        others.removeAll(released);
        if (!others.isEmpty()) {
            requests.findHeld(others).forEach(others::remove);
            others.forEach(id -> outcomes.put(id, ReleaseOutcome.ALREADY_RELEASED));
        }
        return outcomes;
    }

    /**
     * Releases within a transaction that is open already, by its next round trip; see {@link #releaseFree}.
     *
     * <p>At first all is queued, with a lock that is refused when somebody else has one of the permits: that is rare. Then
     * nothing has been done, and the work is begun anew with what is free, which takes a round trip to find out.
     *
     * @param work the rest of the transaction
     */
    <T> T releaseFreeWithin(SortedMap<Long, List<Long>> permitIds, Function<FreeRelease, T> work) {
        if (permitIds.isEmpty()) {
            return work.apply(FreeRelease.NONE);
        }
        if (statements.areOneRoundTrip()) {
            try {
                Set<Long> permits = permitsOf(permitIds.keySet(), permitIds);
                return work.apply(new FreeRelease(
                        permitIds, statements.lockPermits(permits), statements.release(permitIds.keySet(), permits)));
            } catch (RuntimeException failure) {
                if (!SqlErrors.isLockRefused(failure)) {
                    throw failure;
                }
                log.debug("One of the permits of {} requests is locked", permitIds.size(), failure);
            }
        }
        Set<Long> locked = statements.lockFreePermits(permitsOf(permitIds.keySet(), permitIds));
        Set<Long> free = FreeRelease.requestsOf(permitIds, locked);
        return work.apply(
                free.isEmpty()
                        ? FreeRelease.NONE
                        : new FreeRelease(
                                permitIds, () -> locked, statements.release(free, permitsOf(free, permitIds))));
    }

    /**
     * What is released by the next round trip of the transaction.
     *
     * @param permitIds the keys of the permits of each request, by its key
     * @param locked the keys of those that were held
     * @param changed how many requests were
     */
    record FreeRelease(SortedMap<Long, List<Long>> permitIds, Result<Set<Long>> locked, Result<Integer> changed) {

        private static final FreeRelease NONE = new FreeRelease(new TreeMap<>(), Set::of, () -> 0);

        /**
         * The keys of the requests that were released, when that is executed.
         *
         * @throws PartialReleaseException when one of them was released by somebody else meanwhile
         */
        Set<Long> released() {
            Set<Long> released = requestsOf(permitIds, locked.get());
            if (changed.get() != released.size()) {
                throw new PartialReleaseException();
            }
            return released;
        }

        /** The requests all of whose permits are among these. */
        private static Set<Long> requestsOf(SortedMap<Long, List<Long>> permitIds, Set<Long> permits) {
            return permitIds.entrySet().stream()
                    .filter(request -> permits.containsAll(request.getValue()))
                    .map(Map.Entry::getKey)
                    .collect(Collectors.toCollection(TreeSet::new));
        }
    }

    private static SortedSet<Long> permitsOf(Set<Long> requestIds, Map<Long, List<Long>> permitIds) {
        SortedSet<Long> permits = new TreeSet<>();
        requestIds.forEach(id -> permits.addAll(permitIds.getOrDefault(id, List.of())));
        return permits;
    }

    /** Releases within a transaction that is open already; see {@link #releaseUnlessLocked(String)}. */
    Optional<ReleaseOutcome> releaseUnlessLockedWithin(String externalId) {
        Optional<Long> requestId = requests.findIdByExternalId(externalId);
        return requestId.isPresent()
                ? releaseUnlessLockedWithin(requestId.get())
                : Optional.of(ReleaseOutcome.NOT_FOUND);
    }

    /** Releases what nobody has repeated, within a transaction that is open already. */
    void releaseUnrepeatedWithin(long requestId) {
        if (requests.releaseUnrepeated(requestId) == 1) {
            permits.releaseByRequest(requestId);
        }
    }

    /** Releases within a transaction that is open already; empty when somebody else has locked it. */
    Optional<ReleaseOutcome> releaseUnlessLockedWithin(long requestId) {
        return Optional.ofNullable(releaseUnlockedWithin(Set.of(requestId)).get(requestId));
    }

    /** The permits are locked first, which a business transaction may have locked for long, then the requests. */
    private Map<Long, ReleaseOutcome> releaseUnlockedWithin(Set<Long> requestIds) {
        SortedMap<Long, List<Long>> permitIds = new TreeMap<>();
        requestIds.forEach(id -> permitIds.put(id, new ArrayList<>()));
        permits.findHeld(requestIds)
                .forEach(permit -> permitIds
                        .computeIfAbsent(permit.requestId(), id -> new ArrayList<>())
                        .add(permit.id()));
        Set<Long> held = permitsOf(requestIds, permitIds);
        Set<Long> locked = held.isEmpty() ? Set.of() : statements.lockFreePermits(held);
        Set<Long> free = FreeRelease.requestsOf(permitIds, locked);
        Set<Long> released = free.isEmpty() ? Set.of() : statements.lockFreeRequests(free);
        if (!released.isEmpty()) {
            statements.release(released, permitsOf(released, permitIds));
        }
        return outcomes(requestIds, released);
    }
}
