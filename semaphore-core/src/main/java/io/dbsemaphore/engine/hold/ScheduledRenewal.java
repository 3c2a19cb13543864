package io.dbsemaphore.engine.hold;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A grant that is kept alive: when something is to be done about it next. Guarded by the lock of {@link RenewalSchedule}. */
final class ScheduledRenewal {

    /** How many times in an interval renewals happen: those that are due within such a part share a statement. */
    private static final int PARTS = 10;

    private static final Duration MAX_RETRY = Duration.ofSeconds(1);

    private final HeldGrant state;
    private final PermitGrant handle;
    private final Deadline maxHold;
    private final Duration longestInterval;
    private @Nullable Deadline postponedAt;
    private Deadline retry = Deadline.NEVER;
    private boolean runningOut;

    ScheduledRenewal(HeldGrant state, PermitGrant handle, Duration maxHold, Duration longestInterval) {
        this.state = state;
        this.handle = handle;
        this.maxHold = Deadline.in(maxHold);
        this.longestInterval = longestInterval;
    }

    HeldGrant state() {
        return state;
    }

    PermitGrant handle() {
        return handle;
    }

    long requestId() {
        return state.grant().requestId();
    }

    /** When it is to be renewed, its renewals end, or it is lost, whichever is first. */
    Deadline next() {
        Deadline lost = state.deadline();
        return runningOut ? lost : renewal(lost).orEarlier(maxHold).orEarlier(lost);
    }

    /** Ends the renewals when the maximum hold has passed; true once, when that happens. */
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

    /** It could not be renewed; that is tried again soon, as long as the grant lasts. */
    void postpone() {
        Duration ttl = state.grant().ttl();
        if (ttl != null) {
            Duration soon = ttl.dividedBy(10);
            postponedAt = state.deadline();
            retry = Deadline.in(soon.compareTo(MAX_RETRY) < 0 ? soon : MAX_RETRY);
        }
    }

    /** A third of the time to live after it began, whoever it was that renewed, and to whatever time to live. */
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
