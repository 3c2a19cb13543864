package io.dbsemaphore.engine;

import io.dbsemaphore.PermitGrant;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A grant that is kept alive: when it is due next, and when that ends. */
final class KeptGrant {

    private static final Duration MAX_RETRY = Duration.ofSeconds(1);

    private final GrantState state;
    private final PermitGrant handle;
    private final Deadline maxHold;
    private final Duration longestInterval;
    private Deadline due = Deadline.NEVER;
    private @Nullable Deadline scheduledFor;
    private boolean runningOut;

    KeptGrant(GrantState state, PermitGrant handle, Duration maxHold, Duration longestInterval) {
        this.state = state;
        this.handle = handle;
        this.maxHold = Deadline.in(maxHold);
        this.longestInterval = longestInterval;
    }

    GrantState state() {
        return state;
    }

    PermitGrant handle() {
        return handle;
    }

    long requestId() {
        return state.grant().requestId();
    }

    boolean isDue() {
        return due().isPassed();
    }

    /** Until it is to be renewed, or is lost. */
    long nanosToDue() {
        return Math.min(due().remainingNanos(), state.deadline().remainingNanos());
    }

    /** Ends the renewals when the maximum hold has passed; true once, when that happens. */
    boolean runOutAtMaxHold() {
        if (runningOut || !maxHold.isPassed()) {
            return false;
        }
        runningOut = true;
        return true;
    }

    /** The database has renewed it, not before {@code asOfNanos}. */
    void renewed(long asOfNanos) {
        state.extend(asOfNanos);
    }

    /** The renewal failed; it is tried again soon, as long as the grant lasts. */
    void postpone() {
        Duration ttl = state.grant().ttl();
        if (ttl != null) {
            Duration soon = ttl.dividedBy(10);
            due = Deadline.in(soon.compareTo(MAX_RETRY) < 0 ? soon : MAX_RETRY);
        }
    }

    /** A third of the time to live after it began, whoever it was that renewed, and to whatever time to live. */
    private Deadline due() {
        Deadline deadline = state.deadline();
        Duration ttl = state.grant().ttl();
        if (runningOut || ttl == null) {
            return Deadline.NEVER;
        }
        if (!deadline.equals(scheduledFor)) {
            Duration third = ttl.dividedBy(3);
            Duration interval = third.compareTo(longestInterval) < 0 ? third : longestInterval;
            due = Deadline.after(deadline.nanos(), interval.minus(ttl));
            scheduledFor = deadline;
        }
        return due;
    }
}
