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
import java.util.TreeMap;
import java.util.TreeSet;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases requests: a conditional update of the request, and one of its permits, in the same transaction. No row of a
 * semaphore is locked, so a release waits for nothing but a transaction that checked these very permits.
 */
public final class ReleaseTransaction {

    private static final Logger log = LoggerFactory.getLogger(ReleaseTransaction.class);

    private final ShortTransaction transaction;
    private final PermitRequestRepository requests;
    private final PermitRepository permits;
    private final SemaphoreRepository semaphores;

    ReleaseTransaction(
            ShortTransaction transaction,
            PermitRequestRepository requests,
            PermitRepository permits,
            SemaphoreRepository semaphores) {
        this.transaction = transaction;
        this.requests = requests;
        this.permits = permits;
        this.semaphores = semaphores;
    }

    /**
     * Releases what was granted; both updates are sent with the commit. The permits come first, which a business transaction
     * may have locked for long: while this waits for them, it must not have locked the request, which is to be renewed.
     */
    public ReleaseOutcome release(StoredGrant grant) {
        Result<Integer> released = transaction.execute(() -> {
            permits.queueReleaseOf(grant.requestId());
            return requests.queueRelease(Set.of(grant.requestId()));
        });
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
     * Releases those of these requests that, with all of their permits, no other transaction has locked.
     *
     * @return what became of each request, by its id; without those that are locked
     */
    public Map<Long, ReleaseOutcome> releaseUnlocked(Set<Long> requestIds) {
        return transaction.execute(() -> releaseUnlockedWithin(requestIds));
    }

    /**
     * Releases those of these requests whose permits are held and not locked by another transaction. A transaction that has
     * {@linkplain io.dbsemaphore.SemaphoreOperations#requireHeld checked} a grant has locked its permits, perhaps for long;
     * a request is locked only by transactions of this library, which are short.
     *
     * @param permitIds the ids of the permits of each request, by its id
     * @return what became of each request, by its id; without those that are locked
     * @throws PartialReleaseException when a request was released by another transaction meanwhile; nothing is released
     */
    public Map<Long, ReleaseOutcome> releaseFree(SortedMap<Long, List<Long>> permitIds) {
        return transaction.execute(() -> {
            try {
                return releaseNow(queue(permitIds));
            } catch (RuntimeException failure) {
                return releaseNow(queueFree(permitIds, failure));
            }
        });
    }

    private Map<Long, ReleaseOutcome> releaseNow(QueuedRelease release) {
        semaphores.flush();
        return outcomes(release.permitIds().keySet(), release.released());
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
     * Queues the release of these requests for the next round trip of the open transaction. Where the driver sends all at
     * once, it is sent with a lock that is refused when another transaction has locked one of the permits, which is rare;
     * then nothing has been done, and {@link #queueFree} begins anew. Elsewhere it begins with that.
     */
    QueuedRelease queue(SortedMap<Long, List<Long>> permitIds) {
        if (permitIds.isEmpty()) {
            return QueuedRelease.NONE;
        }
        if (!semaphores.areOneRoundTrip()) {
            return queueFree(permitIds);
        }
        Set<Long> all = QueuedRelease.permitsOf(permitIds.keySet(), permitIds);
        return new QueuedRelease(permitIds, permits.queueLock(all), queueRelease(permitIds.keySet(), all));
    }

    /**
     * Queues the release of those of these requests whose permits no other transaction has locked, which takes a round trip
     * to find out.
     *
     * @throws RuntimeException the failure, unless it is that a lock was refused
     */
    QueuedRelease queueFree(SortedMap<Long, List<Long>> permitIds, RuntimeException failure) {
        if (permitIds.isEmpty() || !SqlErrors.isLockRefused(failure)) {
            throw failure;
        }
        log.debug("One of the permits of {} requests is locked", permitIds.size(), failure);
        return queueFree(permitIds);
    }

    private QueuedRelease queueFree(SortedMap<Long, List<Long>> permitIds) {
        Set<Long> locked = permits.lockFree(QueuedRelease.permitsOf(permitIds.keySet(), permitIds));
        Set<Long> free = QueuedRelease.requestsOf(permitIds, locked);
        Result<Integer> changed =
                free.isEmpty() ? () -> 0 : queueRelease(free, QueuedRelease.permitsOf(free, permitIds));
        return new QueuedRelease(permitIds, () -> locked, changed);
    }

    private Result<Integer> queueRelease(Set<Long> requestIds, Set<Long> permitIds) {
        Result<Integer> released = requests.queueRelease(requestIds);
        if (!permitIds.isEmpty()) {
            permits.queueRelease(permitIds);
        }
        return released;
    }

    /** Releases within a transaction that is open already; see {@link #releaseUnlessLocked(String)}. */
    Optional<ReleaseOutcome> releaseUnlessLockedWithin(String externalId) {
        Optional<Long> requestId = requests.findIdByExternalId(externalId);
        return requestId.isPresent()
                ? releaseUnlessLockedWithin(requestId.get())
                : Optional.of(ReleaseOutcome.NOT_FOUND);
    }

    /** Releases what was never repeated, within a transaction that is open already. */
    void releaseUnrepeatedWithin(long requestId) {
        if (requests.releaseUnrepeated(requestId) == 1) {
            permits.releaseByRequest(requestId);
        }
    }

    /** Releases within a transaction that is open already; empty when another transaction has locked it. */
    Optional<ReleaseOutcome> releaseUnlessLockedWithin(long requestId) {
        return Optional.ofNullable(releaseUnlockedWithin(Set.of(requestId)).get(requestId));
    }

    /** Locks the permits first, which a business transaction may have locked for long, then the requests. */
    private Map<Long, ReleaseOutcome> releaseUnlockedWithin(Set<Long> requestIds) {
        SortedMap<Long, List<Long>> permitIds = new TreeMap<>();
        requestIds.forEach(id -> permitIds.put(id, new ArrayList<>()));
        permits.findHeld(requestIds)
                .forEach(permit -> permitIds
                        .computeIfAbsent(permit.requestId(), id -> new ArrayList<>())
                        .add(permit.id()));
        Set<Long> held = QueuedRelease.permitsOf(requestIds, permitIds);
        Set<Long> locked = held.isEmpty() ? Set.of() : permits.lockFree(held);
        Set<Long> free = QueuedRelease.requestsOf(permitIds, locked);
        Set<Long> released = free.isEmpty() ? Set.of() : requests.lockFree(free);
        if (!released.isEmpty()) {
            queueRelease(released, QueuedRelease.permitsOf(released, permitIds));
        }
        return outcomes(requestIds, released);
    }
}
