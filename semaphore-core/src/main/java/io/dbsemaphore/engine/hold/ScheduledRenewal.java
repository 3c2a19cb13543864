package io.dbsemaphore.engine.hold;

import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A grant that is kept alive, or whose expiry is watched, and the time of its next action. Changed by the thread of {@link KeepAlive}. */
final class ScheduledRenewal {

    /** An interval is divided into so many parts; grants that are due within the same part share a statement. */
    private static final int PARTS = 10;

    private static final Duration MAX_RETRY = Duration.ofSeconds(1);

    /** Expiries are stored in milliseconds: a grant that ends this close to its maximum hold ends at it. */
    private static final Duration EXACT = Duration.ofMillis(10);

    /** This JVM's deadline is earlier than the database's by the time of a round trip. */
    private static final Duration EXPIRED_THERE = Duration.ofMillis(200);

    private final HeldGrant state;
    private final Supplier<? extends @Nullable GrantHandle> handle;
    private final @Nullable Deadline maxHold;
    private final Duration longestInterval;
    private volatile Deadline leak;
    private volatile boolean leaked;
    private volatile @Nullable Deadline postponedAt;
    private volatile Deadline retry = Deadline.NEVER;

    /**
     * Schedules a grant.
     *
     * @param maxHold until when it is renewed; null if it is not
     * @param leak when a warning says where it was acquired
     */
    ScheduledRenewal(
            HeldGrant state,
            Supplier<? extends @Nullable GrantHandle> handle,
            @Nullable Deadline maxHold,
            Duration longestInterval,
            Deadline leak) {
        this.state = state;
        this.handle = handle;
        this.maxHold = maxHold;
        this.longestInterval = longestInterval;
        this.leak = leak;
    }

    HeldGrant state() {
        return state;
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

    /** When the next action is to be taken: when the grant is to be renewed, is lost, or has leaked, whichever is first. */
    Deadline due() {
        Deadline lost = state.deadline();
        Deadline next;
        if (maxHold == null) {
            next = lost.equals(postponedAt) ? retry : expiredThere(lost);
        } else {
            next = isLastTerm() ? lost : renewal(lost).orEarlier(lost);
        }
        return next.orEarlier(leak);
    }

    /** Whether it has expired according to this JVM's clock, and, if it is not kept alive, according to that of the database. */
    boolean isExpired() {
        Deadline lost = state.deadline();
        return (maxHold == null ? expiredThere(lost) : lost).isPassed();
    }

    /** Whether it is to be renewed now; if not, it was due for another reason. */
    boolean isToBeRenewed() {
        return maxHold != null && !isLastTerm() && renewal(state.deadline()).isPassed();
    }

    /** Whether it ends at the end of its maximum hold, or has been renewed by its holder beyond that. */
    boolean isLastTerm() {
        Deadline lost = state.deadline();
        return maxHold != null && !maxHold.never() && later(lost, EXACT).compareTo(maxHold) >= 0;
    }

    /** When a renewal at this time ends: after the time to live, at the latest at the end of the maximum hold. */
    Deadline renewedUntil(long asOfNanos) {
        Duration ttl = state.grant().ttl();
        Deadline whole = ttl == null ? Deadline.NEVER : Deadline.after(asOfNanos, ttl);
        return maxHold == null ? whole : whole.orEarlier(maxHold);
    }

    /** Whether the grant has been held for so long that its holder may have forgotten it. True once. */
    boolean leaksNow() {
        if (!leak.isPassed()) {
            return false;
        }
        leak = Deadline.NEVER;
        leaked = true;
        return true;
    }

    /** Whether it was reported as a possible leak. */
    boolean hasLeaked() {
        return leaked;
    }

    /** Schedules another attempt soon, if its renewal or the report of its expiry has failed. */
    void postpone() {
        Duration ttl = state.grant().ttl();
        if (ttl != null && (isExpired() || isToBeRenewed())) {
            Duration soon = ttl.dividedBy(10);
            retry = Deadline.in(soon.compareTo(MAX_RETRY) < 0 ? soon : MAX_RETRY);
            postponedAt = state.deadline();
        }
    }

    /** A third of the time to live after it began, whichever caller renewed the grant, and to whichever time to live. */
    private Deadline renewal(Deadline lost) {
        Duration ttl = state.grant().ttl();
        if (ttl == null) {
            return Deadline.NEVER;
        }
        if (lost.equals(postponedAt)) { // not renewed since it was postponed
            return retry;
        }
        Duration third = ttl.dividedBy(3);
        Duration interval = third.compareTo(longestInterval) < 0 ? third : longestInterval;
        return Deadline.after(lost.nanos(), interval.minus(ttl)).roundedDown(interval.dividedBy(PARTS));
    }

    private static Deadline expiredThere(Deadline lost) {
        return later(lost, EXPIRED_THERE);
    }

    private static Deadline later(Deadline deadline, Duration by) {
        return deadline.never() ? deadline : Deadline.after(deadline.nanos(), by);
    }
}
