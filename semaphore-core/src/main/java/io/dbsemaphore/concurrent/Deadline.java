package io.dbsemaphore.concurrent;

import java.time.Duration;

/** An instant of this JVM's monotonic clock, which changes of the wall clock do not affect. */
public record Deadline(long nanos, boolean never) implements Comparable<Deadline> {

    public static final Deadline NEVER = new Deadline(0, true);

    /** A longer duration counts as indefinite, since the clock's nanoseconds would overflow. */
    private static final Duration MAX = Duration.ofDays(36_500);

    public static Deadline after(long fromNanos, Duration duration) {
        return duration.compareTo(MAX) > 0 ? NEVER : new Deadline(fromNanos + duration.toNanos(), false);
    }

    public static Deadline in(Duration duration) {
        return after(System.nanoTime(), duration);
    }

    /** The earlier deadline first. */
    @Override
    public int compareTo(Deadline other) {
        return never || other.never ? Boolean.compare(never, other.never) : Long.signum(nanos - other.nanos);
    }

    /** The earlier of this deadline and another one. */
    public Deadline orEarlier(Deadline other) {
        return compareTo(other) <= 0 ? this : other;
    }

    /** The deadline that is the given duration after this one. */
    public Deadline plus(Duration more) {
        return never ? this : after(nanos, more);
    }

    /** Rounds this deadline down to a multiple of a step. */
    public Deadline roundedDown(Duration step) {
        return never ? this : new Deadline(nanos - Math.floorMod(nanos, step.toNanos()), false);
    }

    public boolean isPassed() {
        return remainingNanos() <= 0;
    }

    /** The remaining time; 0 or less when the deadline has passed. */
    public long remainingNanos() {
        return remainingNanos(System.nanoTime());
    }

    /** The remaining time at this instant. */
    public long remainingNanos(long nowNanos) {
        return never ? Long.MAX_VALUE : nanos - nowNanos;
    }
}
