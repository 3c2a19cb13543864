package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.jdbc.SqlErrors;
import java.time.Duration;

/**
 * The failure of a transaction, judged once.
 *
 * @param isVictim whether the server rolled it back in favor of another transaction
 * @param isLockWait whether it waited for a locked row in vain. Connector/J gives such a failure the state of a victim, too
 * @param isOtherConflict whether it conflicted with another transaction in a different way
 * @param isCommitUnknown whether its commit was not answered
 * @param isConnectionBroken whether the same transaction may succeed on another connection
 * @param isUnreachable whether the database is unavailable for every transaction
 * @param isWorthRepeating whether the same transaction may succeed if it is repeated
 */
public record Failure(
        Throwable cause,
        boolean isVictim,
        boolean isLockWait,
        boolean isOtherConflict,
        boolean isCommitUnknown,
        boolean isConnectionBroken,
        boolean isUnreachable,
        boolean isWorthRepeating) {

    /** How long a transaction is repeated after lost connections, which may break one after the other. */
    private static final Duration BROKEN_CONNECTIONS = Duration.ofSeconds(5);

    public static Failure of(Throwable cause) {
        boolean victim = SqlErrors.isVictim(cause);
        boolean lockWait = SqlErrors.isLockWait(cause);
        return new Failure(
                cause,
                victim,
                lockWait,
                !victim && !lockWait && SqlErrors.isConflict(cause),
                cause instanceof CommitOutcomeUnknownException,
                TransactionFailures.isConnectionBroken(cause),
                TransactionFailures.isUnreachable(cause),
                TransactionFailures.isWorthRepeating(cause));
    }

    /** Returns the {@linkplain TransactionFailures#forCaller failure for the caller}. */
    public Throwable forCaller() {
        return TransactionFailures.forCaller(cause);
    }

    /**
     * Returns whether the transaction is tried again. If its connection broke, or the server rolled it back in favor of another one, the
     * time is limited: certifying servers may roll it back again and again. After other conflicts the number of attempts is limited.
     *
     * @param made the number of attempts made
     * @param max the maximum number of attempts after other conflicts; 1 for no repetition at all
     * @param elapsedNanos the time since the first attempt began
     * @param conflicts the time limit for transactions that the server rolls back in favor of others
     */
    public boolean retriesRemain(int made, int max, long elapsedNanos, Duration conflicts) {
        Duration limit = isConnectionBroken ? BROKEN_CONNECTIONS : isVictim ? conflicts : Duration.ZERO;
        return isWorthRepeating && (made < max || (max > 1 && elapsedNanos < limit.toNanos()));
    }
}
