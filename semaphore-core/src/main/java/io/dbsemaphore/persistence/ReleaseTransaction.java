package io.dbsemaphore.persistence;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.domain.PartialReleaseException;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.jdbc.SqlErrorKind;
import io.dbsemaphore.jdbc.SqlErrors;
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
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Releases requests: a conditional update of the request and one of its permits, in the same transaction. No semaphore row
 * is locked, so that a release waits only for a transaction that has checked the same permits.
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
     * Releases a grant; both updates are sent with the commit. The permits are updated first, since a business transaction
     * may have locked them for a long time: while this transaction waits for them, it must not lock the request, which has
     * to be renewed.
     */
    public ReleaseOutcome release(StoredGrant grant) {
        Supplier<Integer> released = transaction.execute(() -> {
            permits.queueReleaseOf(grant.requestId());
            return requests.queueRelease(Set.of(grant.requestId()));
        });
        return released.get() == 0 ? ReleaseOutcome.ALREADY_RELEASED : ReleaseOutcome.RELEASED;
    }

    /**
     * Releases the request with this external id; empty if another transaction has locked it or its permits. It does not
     * wait for that lock.
     */
    public Optional<ReleaseOutcome> releaseSkipLocked(String externalId) {
        return transaction.execute(() -> releaseSkipLockedWithin(externalId));
    }

    /**
     * Releases the requests that are not locked by another transaction, nor any of their permits, which it looks up first.
     *
     * @return the outcome of each request, by its id; without the locked ones
     */
    public Map<Long, ReleaseOutcome> releaseSkipLocked(Set<Long> requestIds) {
        return transaction.execute(() -> releaseSkipLockedWithin(requestIds));
    }

    /**
     * Releases the requests whose permits are held and not locked by another transaction. A transaction that has
     * {@linkplain io.dbsemaphore.SemaphoreOperations#requireHeld checked} a grant has locked its permits, perhaps for a
     * long time; a request is locked only by transactions of this library, which are short.
     *
     * @param permitIds the ids of the permits of each request, by its id
     * @return what became of each request, by its id; without those that are locked
     * @throws PartialReleaseException if another transaction has released one of the requests; nothing is released
     */
    public Map<Long, ReleaseOutcome> releaseSkipLocked(SortedMap<Long, List<Long>> permitIds) {
        return transaction.execute(() -> {
            try {
                return releaseNow(queue(permitIds));
            } catch (RuntimeException failure) {
                return releaseNow(queueSkipLockedAfterRefusal(permitIds, failure));
            }
        });
    }

    private Map<Long, ReleaseOutcome> releaseNow(PendingRelease release) {
        semaphores.sendQueued();
        return outcomes(release.requestIds(), release.released().get());
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
     * Queues the release of these requests for the next round trip of the open transaction. PostgreSQL locks the permits and
     * releases the requests in one statement. MySQL is sent a lock together with the release; it is refused if another
     * transaction has locked one of the permits, which is rare. Then nothing has been changed, and
     * {@link #queueSkipLockedAfterRefusal} starts over. If the driver does not pipeline, it starts with that.
     */
    PendingRelease queue(SortedMap<Long, List<Long>> permitIds) {
        if (permitIds.isEmpty()) {
            return PendingRelease.NONE;
        }
        if (!semaphores.areOneRoundTrip()) {
            return queueSkipLocked(permitIds);
        }
        Set<Long> all = PendingRelease.permitsOf(permitIds.keySet(), permitIds);
        if (requests.releasesSkipLocked()) {
            Supplier<Set<Long>> released = requests.queueReleaseSkipLocked(permitIds.keySet(), all);
            permits.queueReleaseOfReleased(permitIds.keySet());
            return new PendingRelease(permitIds.keySet(), released);
        }
        return pending(permitIds, permits.queueLock(all), queueRelease(permitIds.keySet(), all));
    }

    private static PendingRelease pending(
            SortedMap<Long, List<Long>> permitIds, Supplier<Set<Long>> locked, Supplier<Integer> changed) {
        return new PendingRelease(permitIds.keySet(), () -> {
            Set<Long> released = PendingRelease.requestsOf(permitIds, locked.get());
            if (changed.get() != released.size()) {
                throw new PartialReleaseException();
            }
            return released;
        });
    }

    /**
     * Queues the release of the requests whose permits no other transaction has locked, which takes one more round trip.
     *
     * @throws RuntimeException the given failure, unless its cause is a refused lock
     */
    PendingRelease queueSkipLockedAfterRefusal(SortedMap<Long, List<Long>> permitIds, RuntimeException failure) {
        if (permitIds.isEmpty() || !SqlErrors.is(failure, SqlErrorKind.LOCK_REFUSED)) {
            throw failure;
        }
        log.debug("One of the permits of {} requests is locked", permitIds.size(), failure);
        return queueSkipLocked(permitIds);
    }

    private PendingRelease queueSkipLocked(SortedMap<Long, List<Long>> permitIds) {
        Set<Long> locked = permits.lockSkipLocked(PendingRelease.permitsOf(permitIds.keySet(), permitIds));
        Set<Long> unlocked = PendingRelease.requestsOf(permitIds, locked);
        Supplier<Integer> changed =
                unlocked.isEmpty() ? () -> 0 : queueRelease(unlocked, PendingRelease.permitsOf(unlocked, permitIds));
        return pending(permitIds, () -> locked, changed);
    }

    private Supplier<Integer> queueRelease(Set<Long> requestIds, Set<Long> permitIds) {
        Supplier<Integer> released = requests.queueRelease(requestIds);
        if (!permitIds.isEmpty()) {
            permits.queueRelease(permitIds);
        }
        return released;
    }

    /** Releases within the current transaction; see {@link #releaseSkipLocked(String)}. */
    Optional<ReleaseOutcome> releaseSkipLockedWithin(String externalId) {
        Optional<Long> requestId = requests.findIdByExternalId(externalId);
        return requestId.isPresent() ? releaseSkipLockedWithin(requestId.get()) : Optional.of(ReleaseOutcome.NOT_FOUND);
    }

    /** Releases a request that was never repeated, within the current transaction. */
    void releaseUnrepeatedWithin(long requestId) {
        if (requests.releaseUnrepeated(requestId) == 1) {
            permits.releaseByRequest(requestId);
        }
    }

    /** Releases within the current transaction; empty if another transaction has locked the request or its permits. */
    Optional<ReleaseOutcome> releaseSkipLockedWithin(long requestId) {
        return Optional.ofNullable(releaseSkipLockedWithin(Set.of(requestId)).get(requestId));
    }

    /** Locks the permits first, which a business transaction may have locked for a long time, then the requests. */
    private Map<Long, ReleaseOutcome> releaseSkipLockedWithin(Set<Long> requestIds) {
        SortedMap<Long, List<Long>> permitIds = new TreeMap<>();
        requestIds.forEach(id -> permitIds.put(id, new ArrayList<>()));
        permits.findHeld(requestIds)
                .forEach(permit -> permitIds
                        .computeIfAbsent(permit.requestId(), id -> new ArrayList<>())
                        .add(permit.id()));
        Set<Long> held = PendingRelease.permitsOf(requestIds, permitIds);
        Set<Long> locked = held.isEmpty() ? Set.of() : permits.lockSkipLocked(held);
        Set<Long> unlocked = PendingRelease.requestsOf(permitIds, locked);
        Set<Long> released = unlocked.isEmpty() ? Set.of() : requests.lockSkipLocked(unlocked);
        if (!released.isEmpty()) {
            queueRelease(released, PendingRelease.permitsOf(released, permitIds));
        }
        return outcomes(requestIds, released);
    }
}
