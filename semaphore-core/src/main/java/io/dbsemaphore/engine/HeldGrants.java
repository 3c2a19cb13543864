package io.dbsemaphore.engine;

import io.dbsemaphore.persistence.StoredGrant;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentMap;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;

/** What this JVM holds, for all it knows. */
final class HeldGrants {

    private static final int LOOK_THROUGH_EVERY = 1024;
    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final ConcurrentMap<Long, GrantState> byRequest = new ConcurrentHashMap<>();
    private final Object workEnded = new Object();
    private int untilNextLook = LOOK_THROUGH_EVERY;
    private int releasesUnderWay;

    /** The state of a grant that this JVM has acquired; the one that is known already where it is a repetition. */
    GrantState register(StoredGrant grant, long asOfNanos) {
        forgetExpiredNowAndThen();
        return byRequest.compute(grant.requestId(), (id, known) -> {
            if (known == null) {
                return new GrantState(grant, asOfNanos);
            }
            known.update(grant, asOfNanos);
            return known;
        });
    }

    /** The state of a grant that this JVM came to know of without acquiring it; shared only where it has. */
    GrantState refresh(StoredGrant grant, long asOfNanos) {
        GrantState known = byRequest.get(grant.requestId());
        if (known == null) {
            return new GrantState(grant, asOfNanos);
        }
        known.update(grant, asOfNanos);
        return known;
    }

    /** What this JVM acquired and has neither released nor lost. */
    List<GrantState> all() {
        return List.copyOf(byRequest.values());
    }

    /** Ends all handles of this request. */
    void end(long requestId) {
        GrantState ended = byRequest.remove(requestId);
        if (ended != null) {
            ended.end();
            wakeThoseWhoWaitForWork();
        }
    }

    /** Ends all handles of a grant that was lost; false when that is known already, or it was given back. */
    boolean lose(GrantState state) {
        if (!state.end()) {
            return false;
        }
        byRequest.remove(state.grant().requestId(), state);
        wakeThoseWhoWaitForWork();
        return true;
    }

    /** Whether this is the state of a grant that this JVM has acquired and neither released nor lost. */
    boolean holds(GrantState state) {
        return byRequest.get(state.grant().requestId()) == state;
    }

    private void wakeThoseWhoWaitForWork() {
        synchronized (workEnded) {
            workEnded.notifyAll();
        }
    }

    /** Runs a release, which {@link #awaitNoWork} waits for although the grant counts as held no more. */
    <T> T releasing(Supplier<T> release) {
        synchronized (workEnded) {
            releasesUnderWay++;
        }
        try {
            return release.get();
        } finally {
            synchronized (workEnded) {
                releasesUnderWay--;
                workEnded.notifyAll();
            }
        }
    }

    /** Waits until no grant is held for work of this JVM or being released, or the deadline has passed. */
    void awaitNoWork(Deadline deadline) throws InterruptedException {
        synchronized (workEnded) {
            while (!deadline.isPassed()
                    && (releasesUnderWay > 0
                            || byRequest.values().stream().anyMatch(state -> state.isForWork() && state.isHeld()))) {
                TimeUnit.NANOSECONDS.timedWait(workEnded, Math.min(LOOK_NANOS, deadline.remainingNanos()));
            }
        }
    }

    /** What this JVM holds under this external id. */
    Optional<GrantState> find(String externalId) {
        return byRequest.values().stream()
                .filter(state -> state.grant().externalId().equals(externalId))
                .findFirst();
    }

    /** Handles that were dropped without a release must not pile up. */
    private synchronized void forgetExpiredNowAndThen() {
        if (--untilNextLook <= 0) {
            untilNextLook = LOOK_THROUGH_EVERY;
            byRequest.values().removeIf(state -> state.deadline().isPassed());
        }
    }
}
