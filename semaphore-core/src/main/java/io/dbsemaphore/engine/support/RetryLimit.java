package io.dbsemaphore.engine.support;

import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.unit.TransactionFailures;
import java.time.Duration;

/**
 * Limits the attempts of a transaction that failed. It is repeated for a time if the server has rolled it back in favor of another
 * one, since servers that certify writes do so again and again, or if its connection broke, since connections may break faster than
 * attempts are spread. After other conflicts the number of attempts is limited.
 */
public final class RetryLimit {

    private static final long BROKEN_CONNECTIONS = Duration.ofSeconds(5).toNanos();

    private RetryLimit() {}

    /**
     * Whether there is another attempt.
     *
     * @param made the number of attempts made
     * @param max the maximum number of attempts after other conflicts; 1 for no repetition at all
     * @param elapsedNanos the time since the first attempt began
     * @param conflicts how long a transaction is repeated that the server rolls back in favor of others
     */
    public static boolean remain(Throwable failure, int made, int max, long elapsedNanos, Duration conflicts) {
        return TransactionFailures.isWorthRepeating(failure)
                && (made < max || (max > 1 && elapsedNanos < nanos(failure, conflicts)));
    }

    private static long nanos(Throwable failure, Duration conflicts) {
        if (TransactionFailures.isConnectionBroken(failure)) {
            return BROKEN_CONNECTIONS;
        }
        return SqlErrors.isVictim(failure) ? conflicts.toNanos() : 0;
    }
}
