package io.dbsemaphore.engine.support;

import io.dbsemaphore.persistence.SemaphorePersistence;
import java.time.Duration;
import java.util.concurrent.ThreadLocalRandom;

/**
 * Whether a transaction that failed is tried again: a bounded number of times where it lost against another one, and for a
 * bounded time where its connection broke, since breaks may follow each other faster than attempts are spread.
 */
public final class RetryLimit {

    private static final long BROKEN_CONNECTIONS = Duration.ofSeconds(5).toNanos();

    private RetryLimit() {}

    /**
     * Whether there is another attempt.
     *
     * @param made how many there have been
     * @param begunAt when the first began, by {@link System#nanoTime}
     */
    public static boolean remain(Throwable failure, int made, int max, long begunAt) {
        return SemaphorePersistence.isWorthRepeating(failure)
                && (made < max
                        || (max > 1
                                && SemaphorePersistence.isConnectionBroken(failure)
                                && System.nanoTime() - begunAt < BROKEN_CONNECTIONS));
    }

    /** The pause after so many failed attempts to grant: longer each time, and spread. */
    public static Duration pauseAfter(int made) {
        long millis = Math.min(500, 20L << Math.min(made - 1, 5));
        return Duration.ofMillis(millis / 2 + ThreadLocalRandom.current().nextLong(millis));
    }
}
