package io.dbsemaphore.engine.hold;

import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.engine.support.Deadline;
import java.lang.ref.ReferenceQueue;
import java.lang.ref.WeakReference;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The grants that this JVM holds. A grant is removed when it is released or lost. One that has expired, and one without a time to
 * live, is removed when the application has dropped all its handles: as long as nobody has reclaimed the expired one, a repeated
 * acquire holds it again, and its first handle with it; another JVM may have released the other one.
 */
public final class GrantRegistry {

    /** The number of registrations after which expired grants are looked for. */
    private static final int SCAN_INTERVAL = 1024;

    private static final long POLL_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final ConcurrentMap<Long, Held> byRequest = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, Long> requestIds = new ConcurrentHashMap<>();
    private final ReferenceQueue<HeldGrant> dropped = new ReferenceQueue<>();
    private final AtomicInteger registered = new AtomicInteger();
    private final Object workEnded = new Object();
    private int releasesInProgress;

    /** A weak reference to a state; a strong one while the grant has a time to live. */
    private static final class Held extends WeakReference<HeldGrant> {

        private final long requestId;
        private final String externalId;
        private volatile @Nullable HeldGrant strong;

        Held(HeldGrant state, ReferenceQueue<HeldGrant> dropped) {
            super(state, dropped);
            requestId = state.grant().requestId();
            externalId = state.grant().externalId();
            update(state);
        }

        void update(HeldGrant state) {
            strong = state.grant().ttl() == null ? null : state;
        }

        /** A renewal at the same time is noticed by the next {@link #update}, or by a handle that is in use. */
        void weaken() {
            strong = null;
        }

        boolean isExpired() {
            HeldGrant state = strong;
            return state != null && state.deadline().isPassed();
        }
    }

    /** Registers a grant that this JVM acquired. Returns its state: the existing one for an idempotent repetition. */
    public HeldGrant register(StoredGrant grant, long asOfNanos) {
        removeStale();
        HeldGrant[] state = {new HeldGrant(grant, asOfNanos)};
        byRequest.compute(grant.requestId(), (id, held) -> {
            HeldGrant known = held == null ? null : held.get();
            if (held == null || known == null) {
                return new Held(state[0], dropped);
            }
            known.update(grant, asOfNanos);
            known.repeated();
            held.update(known);
            state[0] = known;
            return held;
        });
        requestIds.put(grant.externalId(), grant.requestId());
        return state[0];
    }

    /** The state of a grant that was renewed: that of this JVM's own acquire if there is one, otherwise a new one. */
    public HeldGrant refresh(StoredGrant grant, long asOfNanos) {
        return refresh(grant, asOfNanos, known -> known.update(grant, asOfNanos));
    }

    /** The state of a grant that was only read. A renewal of this JVM since the database was asked stays in effect. */
    public HeldGrant read(StoredGrant grant, long asOfNanos) {
        return refresh(grant, asOfNanos, known -> known.read(grant, asOfNanos));
    }

    private HeldGrant refresh(StoredGrant grant, long asOfNanos, Consumer<HeldGrant> change) {
        Held held = byRequest.get(grant.requestId());
        HeldGrant known = held == null ? null : held.get();
        if (held == null || known == null) {
            return new HeldGrant(grant, asOfNanos);
        }
        change.accept(known);
        held.update(known);
        return known;
    }

    /** The grants that this JVM acquired and has neither released nor lost. */
    public List<HeldGrant> all() {
        return states().toList();
    }

    private Stream<HeldGrant> states() {
        return byRequest.values().stream().map(Held::get).flatMap(Stream::ofNullable);
    }

    /** Ends all handles of this grant. */
    public void end(HeldGrant state) {
        state.end();
        Held held = byRequest.get(state.grant().requestId());
        if (held != null) {
            HeldGrant own = held.get();
            remove(held);
            if (own != null) {
                own.end();
            }
        }
        notifyWorkEnded();
    }

    /** The state of this grant, if this JVM acquired it and has neither released nor lost it. */
    public Optional<HeldGrant> find(StoredGrant grant) {
        return Optional.ofNullable(byRequest.get(grant.requestId())).map(Held::get);
    }

    /** Whether this is the state of a grant that this JVM acquired and has neither released nor lost. */
    public boolean holds(HeldGrant state) {
        Held held = byRequest.get(state.grant().requestId());
        return held != null && held.get() == state;
    }

    private void notifyWorkEnded() {
        synchronized (workEnded) {
            workEnded.notifyAll();
        }
    }

    /** Counts a release that begins: {@link #awaitNoWork} waits for it although the grant no longer counts as held. */
    public void releaseBegins() {
        synchronized (workEnded) {
            releasesInProgress++;
        }
    }

    public void releaseEnds() {
        synchronized (workEnded) {
            releasesInProgress--;
            workEnded.notifyAll();
        }
    }

    /** Waits until no grant is held for work of this JVM, and no release is in progress, or the deadline has passed. */
    public void awaitNoWork(Deadline deadline) throws InterruptedException {
        synchronized (workEnded) {
            while (!deadline.isPassed()
                    && (releasesInProgress > 0 || states().anyMatch(state -> state.isForWork() && state.isHeld()))) {
                TimeUnit.NANOSECONDS.timedWait(workEnded, Math.min(POLL_NANOS, deadline.remainingNanos()));
            }
        }
    }

    /** The grant that this JVM holds under this external id. */
    public Optional<HeldGrant> find(String externalId) {
        return Optional.ofNullable(requestIds.get(externalId))
                .map(byRequest::get)
                .map(Held::get);
    }

    private void remove(Held held) {
        if (byRequest.remove(held.requestId, held)) {
            requestIds.remove(held.externalId, held.requestId);
        }
    }

    /** Removes grants whose handles were dropped without a release. Those that have expired are no longer kept from that. */
    private void removeStale() {
        for (Object held = dropped.poll(); held != null; held = dropped.poll()) {
            remove((Held) held);
        }
        if (registered.incrementAndGet() % SCAN_INTERVAL == 0) {
            byRequest.values().stream().filter(Held::isExpired).forEach(Held::weaken);
        }
    }
}
