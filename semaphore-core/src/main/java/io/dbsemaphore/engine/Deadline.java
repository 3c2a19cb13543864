package io.dbsemaphore.engine;

import java.time.Duration;

/** A point on this JVM's monotonic clock, so that no change of the wall clock moves it. */
record Deadline(long nanos, boolean never) implements Comparable<Deadline> {

    static final Deadline NEVER = new Deadline(0, true);

    /** What is longer, as "for ever" is in seconds, has more nanoseconds than the clock can tell apart. */
    private static final Duration LONGEST = Duration.ofDays(36_500);

    static Deadline after(long fromNanos, Duration duration) {
        return duration.compareTo(LONGEST) > 0 ? NEVER : new Deadline(fromNanos + duration.toNanos(), false);
    }

    static Deadline in(Duration duration) {
        return after(System.nanoTime(), duration);
    }

    /** The sooner one first. */
    @Override
    public int compareTo(Deadline other) {
        return never || other.never ? Boolean.compare(never, other.never) : Long.signum(nanos - other.nanos);
    }

    /** The earlier one. */
    Deadline orEarlier(Deadline other) {
        return compareTo(other) <= 0 ? this : other;
    }

    /** The last multiple of a step that is not later. */
    Deadline roundedDown(Duration step) {
        return never ? this : new Deadline(nanos - Math.floorMod(nanos, step.toNanos()), false);
    }

    boolean isPassed() {
        return !never && remainingNanos() <= 0;
    }

    /** What is left; 0 or less once it has passed. */
    long remainingNanos() {
        return never ? Long.MAX_VALUE : nanos - System.nanoTime();
    }
}
