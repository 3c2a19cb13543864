package io.dbsemaphore.engine.batch;

import java.time.Duration;

/** The grants of other instances, counted by how much the fence of a semaphore that is read exceeds the last one known. */
final class Turnover {

    /** How long grants are counted before a new count begins. */
    private static final long WINDOW = Duration.ofMillis(500).toNanos();

    /** How long they are counted before a count is used. */
    private static final long KNOWN = WINDOW / 5;

    private long fence;
    private boolean granted;
    private long grants;
    private long since;
    private double perNano;

    Turnover(long now) {
        since = now;
    }

    /**
     * Records the fence before and after a transaction of this instance; both are the same if it granted nothing.
     *
     * @param now this JVM's monotonic clock
     */
    void record(long before, long after, long now) {
        if (fence != 0 && before > fence) {
            grants += before - fence;
            granted = true;
        }
        fence = Math.max(fence, after);
        long elapsed = now - since;
        if (elapsed > WINDOW) {
            perNano = grants / (double) elapsed;
            grants = 0;
            since = now;
        }
    }

    /** Whether another instance was granted permits since the last call. */
    boolean takeGranted() {
        boolean any = granted;
        granted = false;
        return any;
    }

    /** The time until others are granted as many permits, at their present rate; or {@link Long#MAX_VALUE}. */
    long nanosTo(long permits, long now) {
        long elapsed = now - since;
        double rate = Math.max(elapsed > KNOWN ? grants / (double) elapsed : 0, perNano);
        return rate == 0 ? Long.MAX_VALUE : (long) (permits / rate);
    }
}
