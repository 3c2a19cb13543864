package io.dbsemaphore.line;

/**
 * When a caller came to this instance.
 *
 * @param nanoTime by the monotonic clock of this JVM
 * @param micros by the database's clock, in microseconds since 1970, if {@code isKnown}; otherwise comparable only with arrivals at this
 *     instance
 * @param isKnown whether the clocks were compared recently
 */
public record Arrival(long nanoTime, long micros, boolean isKnown) {

    public static Arrival unknown(long nanoTime) {
        return new Arrival(nanoTime, 0, false);
    }
}
