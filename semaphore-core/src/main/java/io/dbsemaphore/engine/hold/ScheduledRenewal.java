package io.dbsemaphore.engine.hold;

import io.dbsemaphore.concurrent.Deadline;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A grant that is kept alive or watched, and the time of its next action. Changed by the thread of the keep-alive. */
final class ScheduledRenewal {

    /** An interval is divided into this many parts. Grants that are due within the same part share a statement. */
    private static final int PARTS = 10;

    private static final Duration MAX_RETRY = Duration.ofSeconds(1);

    /** Expiries are stored in milliseconds: an expiry this close to the end of the maximum hold is taken for that end. */
    private static final Duration EXACT = Duration.ofMillis(10);

    /** This JVM's deadline is earlier than the database's by the time of a round trip. */
    private static final Duration EXPIRED_THERE = Duration.ofMillis(200);

    final HeldGrant state;
    private final Supplier<? extends @Nullable GrantHandle> handle;
    private final @Nullable Deadline maxHold;
    private final Duration longestInterval;
    private Deadline leak;
    private volatile boolean leaked;

    /** When it has to be renewed or reported, computed from the deadline in {@link #lookedAt}. */
    private Deadline due = Deadline.NEVER;

    private @Nullable Deadline lookedAt;

    /** The renewal of an earlier acquire of the same grant. */
    private @Nullable ScheduledRenewal replaced;

    /**
     * Schedules the first renewal.
     *
     * @param maxHold until when it is renewed; null if it is only watched
     * @param longestInterval the longest time between two renewals
     * @param leakThreshold how long it may be held before it is taken for leaked
     */
    ScheduledRenewal(
            HeldGrant state,
            Supplier<? extends @Nullable GrantHandle> handle,
            @Nullable Deadline maxHold,
            Duration longestInterval,
            Duration leakThreshold) {
        this.state = state;
        this.handle = handle;
        this.maxHold = maxHold;
        this.longestInterval = longestInterval;
        this.leak = state.acquiredAt() == null ? Deadline.NEVER : Deadline.in(leakThreshold);
    }

    /** Returns the renewal to use when a watched one is added: this one, if both are of the same grant, otherwise the watched one. */
    ScheduledRenewal orElse(ScheduledRenewal watched) {
        if (watched.state != state) {
            return watched;
        }
        if (isKeptAlive() && replaced == null) {
            replaced = watched;
        }
        return this;
    }

    ScheduledRenewal replacing(@Nullable ScheduledRenewal known) {
        if (known != null && known.state == state) {
            known.replaced = null; // one is enough, because a caller rarely leaves without its grant
            replaced = known;
        }
        return this;
    }

    ScheduledRenewal without(GrantHandle left) {
        return replaced != null && handle() == left ? replaced : this;
    }

    /** The handle of its user; null if nobody uses it. */
    @Nullable GrantHandle handle() {
        return handle.get();
    }

    long requestId() {
        return state.grant().requestId();
    }

    boolean isKeptAlive() {
        return maxHold != null;
    }

    /** Whether something has to be done. Cheap, because each turn asks every grant. */
    boolean isDue(long nowNanos) {
        Deadline lost = state.deadline();
        if (!lost.equals(lookedAt)) { // new, or renewed since
            lookedAt = lost;
            due = maxHold == null ? lost.plus(EXPIRED_THERE) : isLastTerm() ? lost : renewal(lost);
        }
        return due.remainingNanos(nowNanos) <= 0 || leak.remainingNanos(nowNanos) <= 0;
    }

    /** Whether it has expired by this JVM's clock, and if it is only watched, also by the database's. */
    boolean isExpired() {
        return (maxHold == null ? due : state.deadline()).isPassed();
    }

    /** Whether it has to be renewed now. */
    boolean isToBeRenewed() {
        return maxHold != null && !isLastTerm() && due.isPassed();
    }

    /** Whether it expires at the end of its maximum hold, or its holder has renewed it beyond that. */
    boolean isLastTerm() {
        return maxHold != null
                && !maxHold.never()
                && state.deadline().plus(EXACT).compareTo(maxHold) >= 0;
    }

    /** The expiry after a renewal at this time: one time to live later, but not after the end of the maximum hold. */
    Deadline renewedUntil(long asOfNanos) {
        Duration ttl = state.grant().ttl();
        Deadline whole = ttl == null ? Deadline.NEVER : Deadline.after(asOfNanos, ttl);
        return maxHold == null ? whole : whole.orEarlier(maxHold);
    }

    /** Whether the grant may have leaked: it has been held for too long. Returns true only once. */
    boolean leaksNow() {
        if (!leak.isPassed()) {
            return false;
        }
        leak = Deadline.NEVER;
        leaked = true;
        return true;
    }

    /** Whether it was found to have leaked. May be called by any thread. */
    boolean isLeaked() {
        return leaked;
    }

    /** Schedules another attempt soon, if its renewal or the report of its expiry has failed. */
    void postpone() {
        Duration ttl = state.grant().ttl();
        if (ttl != null && (isExpired() || isToBeRenewed())) {
            Deadline retry = Deadline.in(ttl.dividedBy(10)).orEarlier(Deadline.in(MAX_RETRY));
            due = maxHold == null ? retry : retry.orEarlier(state.deadline());
        }
    }

    /** When a renewal is due: after a third of the time to live, less the pause between turns. */
    private Deadline renewal(Deadline lost) {
        Duration ttl = state.grant().ttl();
        if (ttl == null) {
            return Deadline.NEVER;
        }
        Duration third = ttl.dividedBy(3);
        Duration interval = third.compareTo(longestInterval) < 0 ? third : longestInterval;
        return lost.plus(interval.minus(ttl).minus(InstanceLease.PAUSE)).roundedDown(interval.dividedBy(PARTS));
    }
}
