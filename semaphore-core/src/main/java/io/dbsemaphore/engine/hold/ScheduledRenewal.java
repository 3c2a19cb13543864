package io.dbsemaphore.engine.hold;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** A grant that is kept alive, and the time of its next action. Guarded by the lock of {@link RenewalSchedule}. */
final class ScheduledRenewal {

    /** An interval is divided into so many parts; grants that are due within the same part share a statement. */
    private static final int PARTS = 10;

    private static final Duration MAX_RETRY = Duration.ofSeconds(1);

    private final HeldGrant state;
    private final Supplier<? extends @Nullable PermitGrant> handle;
    private final Deadline maxHold;
    private final Duration longestInterval;
    private @Nullable Deadline postponedAt;
    private Deadline retry = Deadline.NEVER;
    private boolean runningOut;
    private Deadline due = Deadline.NEVER;

    ScheduledRenewal(
            HeldGrant state,
            Supplier<? extends @Nullable PermitGrant> handle,
            Duration maxHold,
            Duration longestInterval) {
        this.state = state;
        this.handle = handle;
        this.maxHold = Deadline.in(maxHold);
        this.longestInterval = longestInterval;
    }

    HeldGrant state() {
        return state;
    }

    /** The handle of its user; null if nobody uses it. */
    @Nullable PermitGrant handle() {
        return handle.get();
    }

    long requestId() {
        return state.grant().requestId();
    }

    /** When the {@linkplain #plan planned} action is to be taken. */
    Deadline due() {
        return due;
    }

    /** Plans the next action: when the grant is to be renewed, its maximum hold ends, or it is lost, whichever is first. */
    void plan() {
        Deadline lost = state.deadline();
        due = runningOut ? lost : renewal(lost).orEarlier(maxHold).orEarlier(lost);
    }

    /** Ends the renewals when the maximum hold has passed. Returns true the first time. */
    boolean runOutAtMaxHold() {
        if (runningOut || !maxHold.isPassed()) {
            return false;
        }
        runningOut = true;
        return true;
    }

    /** Whether the maximum hold has passed. */
    boolean isRunningOut() {
        return runningOut;
    }

    /** Schedules another attempt soon, since a renewal has failed. */
    void postpone() {
        Duration ttl = state.grant().ttl();
        if (ttl != null) {
            Duration soon = ttl.dividedBy(10);
            postponedAt = state.deadline();
            retry = Deadline.in(soon.compareTo(MAX_RETRY) < 0 ? soon : MAX_RETRY);
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
}
