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
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * What this JVM holds, for all it knows. What has a time to live is forgotten when that has passed; what has none, when
 * the application has no handle of it any more: another JVM may have released it long ago, and nothing is done about it
 * at shutdown.
 */
public final class GrantRegistry {

    private static final int LOOK_THROUGH_EVERY = 1024;
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final ConcurrentMap<Long, Held> byRequest = new ConcurrentHashMap<>();
    private final ConcurrentMap<String, Long> requestIds = new ConcurrentHashMap<>();
    private final ReferenceQueue<HeldGrant> dropped = new ReferenceQueue<>();
    private final AtomicInteger registered = new AtomicInteger();
    private final Object workEnded = new Object();
    private int releasesUnderWay;

    /** Refers to a state strongly as long as that has a time to live. */
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

        boolean isExpired() {
            HeldGrant state = strong;
            return state != null && state.deadline().isPassed();
        }
    }

    /** The state of a grant that this JVM has acquired; the one that is known already where it is a repetition. */
    public HeldGrant register(StoredGrant grant, long asOfNanos) {
        forget();
        HeldGrant[] state = {new HeldGrant(grant, asOfNanos)};
        byRequest.compute(grant.requestId(), (id, held) -> {
            HeldGrant known = held == null ? null : held.get();
            if (held == null || known == null) {
                return new Held(state[0], dropped);
            }
            known.update(grant, asOfNanos);
            held.update(known);
            state[0] = known;
            return held;
        });
        requestIds.put(grant.externalId(), grant.requestId());
        return state[0];
    }

    /** The state of a grant that this JVM came to know of without acquiring it; shared only where it has. */
    public HeldGrant refresh(StoredGrant grant, long asOfNanos) {
        Held held = byRequest.get(grant.requestId());
        HeldGrant known = held == null ? null : held.get();
        if (held == null || known == null) {
            return new HeldGrant(grant, asOfNanos);
        }
        known.update(grant, asOfNanos);
        held.update(known);
        return known;
    }

    /** What this JVM acquired and has neither released nor lost. */
    public List<HeldGrant> all() {
        return states().toList();
    }

    private Stream<HeldGrant> states() {
        return byRequest.values().stream().map(Held::get).flatMap(Stream::ofNullable);
    }

    /** Ends all handles of this request. */
    public void end(long requestId) {
        Held held = byRequest.get(requestId);
        if (held != null) {
            HeldGrant ended = held.get();
            remove(held);
            if (ended != null) {
                ended.end();
                wakeThoseWhoWaitForWork();
            }
        }
    }

    /** Ends all handles of a grant that was lost; false when that is known already, or it was given back. */
    boolean lose(HeldGrant state) {
        if (!state.end()) {
            return false;
        }
        Held held = byRequest.get(state.grant().requestId());
        if (held != null && held.get() == state) {
            remove(held);
        }
        wakeThoseWhoWaitForWork();
        return true;
    }

    /** Whether this is the state of a grant that this JVM has acquired and neither released nor lost. */
    public boolean holds(HeldGrant state) {
        Held held = byRequest.get(state.grant().requestId());
        return held != null && held.get() == state;
    }

    private void wakeThoseWhoWaitForWork() {
        synchronized (workEnded) {
            workEnded.notifyAll();
        }
    }

    /** Runs a release, see {@link #releaseBegins}. */
    public <T> T releasing(Supplier<T> release) {
        releaseBegins();
        try {
            return release.get();
        } finally {
            releaseEnds();
        }
    }

    /** A release begins, which {@link #awaitNoWork} waits for although the grant counts as held no more. */
    public void releaseBegins() {
        synchronized (workEnded) {
            releasesUnderWay++;
        }
    }

    /** A release that has begun ends. */
    public void releaseEnds() {
        synchronized (workEnded) {
            releasesUnderWay--;
            workEnded.notifyAll();
        }
    }

    /** Waits until no grant is held for work of this JVM or being released, or the deadline has passed. */
    public void awaitNoWork(Deadline deadline) throws InterruptedException {
        synchronized (workEnded) {
            while (!deadline.isPassed()
                    && (releasesUnderWay > 0 || states().anyMatch(state -> state.isForWork() && state.isHeld()))) {
                TimeUnit.NANOSECONDS.timedWait(workEnded, Math.min(LOOK_NANOS, deadline.remainingNanos()));
            }
        }
    }

    /** What this JVM holds under this external id. */
    public Optional<HeldGrant> find(String externalId) {
        return Optional.ofNullable(requestIds.get(externalId))
                .map(byRequest::get)
                .map(Held::get);
    }

    /** How many grants it remembers. */
    int size() {
        return byRequest.size();
    }

    private void remove(Held held) {
        if (byRequest.remove(held.requestId, held)) {
            requestIds.remove(held.externalId, held.requestId);
        }
    }

    /** Handles that were dropped without a release must not pile up. */
    private void forget() {
        for (Object held = dropped.poll(); held != null; held = dropped.poll()) {
            remove((Held) held);
        }
        if (registered.incrementAndGet() % LOOK_THROUGH_EVERY == 0) {
            byRequest.values().stream().filter(Held::isExpired).forEach(this::remove);
        }
    }
}
