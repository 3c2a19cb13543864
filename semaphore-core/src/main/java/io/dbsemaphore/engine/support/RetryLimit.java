package io.dbsemaphore.engine.support;

import io.dbsemaphore.persistence.unit.TransactionFailures;
import java.time.Duration;

/**
 * Limits the attempts of a transaction that failed: by number after conflicts, and by time after broken connections, since
 * connections may break faster than attempts are spread.
 */
public final class RetryLimit {

    private static final long BROKEN_CONNECTIONS = Duration.ofSeconds(5).toNanos();

    private RetryLimit() {}

    /**
     * Whether there is another attempt.
     *
     * @param made the number of attempts made
     * @param elapsedNanos the time since the first attempt began
     */
    public static boolean remain(Throwable failure, int made, int max, long elapsedNanos) {
        return TransactionFailures.isWorthRepeating(failure)
                && (made < max
                        || (max > 1
                                && TransactionFailures.isConnectionBroken(failure)
                                && elapsedNanos < BROKEN_CONNECTIONS));
    }
}
