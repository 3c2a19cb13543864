package io.dbsemaphore.engine.batch;

import java.time.Duration;

/**
 * How often other instances are granted permits of one semaphore, from the fences that this instance reads and writes. Guarded by
 * the lock of the {@link GrantQueue}.
 */
final class Turnover {

    private static final long WINDOW = Duration.ofMillis(500).toNanos();
    private static final long SHORTEST = WINDOW / 5;

    private final QueueClock clock;
    private long fence;
    private long grants;
    private long since;
    private double grantsPerNano;
    private boolean changed;

    Turnover(QueueClock clock) {
        this.clock = clock;
        since = clock.now();
    }

    /**
     * Records what was read.
     *
     * @param before the fence that was read
     * @param after the fence that this instance has written, or the same
     */
    void read(long before, long after) {
        if (fence != 0 && before > fence) {
            grants += before - fence;
            changed = true;
        }
        fence = Math.max(fence, after);
        long elapsed = clock.now() - since;
        if (elapsed > WINDOW) {
            grantsPerNano = grants / (double) elapsed;
            grants = 0;
            since = clock.now();
        }
    }

    /** Whether another instance was granted permits since the last call. */
    boolean takeChanged() {
        boolean taken = changed;
        changed = false;
        return taken;
    }

    /** The time until others are granted so many permits, if it goes on as before; {@link Long#MAX_VALUE} if they are not. */
    long nanosTo(long permits) {
        long elapsed = clock.now() - since;
        double perNano = Math.max(elapsed > SHORTEST ? grants / (double) elapsed : 0, grantsPerNano);
        return perNano == 0 ? Long.MAX_VALUE : (long) (permits / perNano);
    }
}
