package io.dbsemaphore.engine.support;

import java.time.Duration;

/** A point on this JVM's monotonic clock, so that no change of the wall clock moves it. */
public record Deadline(long nanos, boolean never) implements Comparable<Deadline> {

    public static final Deadline NEVER = new Deadline(0, true);

    /** What is longer, as "for ever" is in seconds, has more nanoseconds than the clock can tell apart. */
    private static final Duration LONGEST = Duration.ofDays(36_500);

    public static Deadline after(long fromNanos, Duration duration) {
        return duration.compareTo(LONGEST) > 0 ? NEVER : new Deadline(fromNanos + duration.toNanos(), false);
    }

    public static Deadline in(Duration duration) {
        return after(System.nanoTime(), duration);
    }

    /** The sooner one first. */
    @Override
    public int compareTo(Deadline other) {
        return never || other.never ? Boolean.compare(never, other.never) : Long.signum(nanos - other.nanos);
    }

    /** The earlier one. */
    public Deadline orEarlier(Deadline other) {
        return compareTo(other) <= 0 ? this : other;
    }

    /** The last multiple of a step that is not later. */
    public Deadline roundedDown(Duration step) {
        return never ? this : new Deadline(nanos - Math.floorMod(nanos, step.toNanos()), false);
    }

    public boolean isPassed() {
        return !never && remainingNanos() <= 0;
    }

    /** What is left; 0 or less once it has passed. */
    public long remainingNanos() {
        return remainingNanos(System.nanoTime());
    }

    /** What is left at this instant. */
    public long remainingNanos(long nowNanos) {
        return never ? Long.MAX_VALUE : nanos - nowNanos;
    }
}
