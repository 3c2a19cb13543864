package io.dbsemaphore.engine.support;

import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.unit.TransactionFailures;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Retries a whole transaction, commit included, after a conflict with another one or a lost connection. The short pauses have jitter, so
 * that transactions that failed together do not conflict again. Interrupts are ignored, and the thread's interrupt flag is kept.
 */
public final class Retries {

    /** How long a transaction is repeated after lost connections, which may break one after the other. */
    private static final long BROKEN_CONNECTIONS = Duration.ofSeconds(5).toNanos();

    private final int maxAttempts;
    private final Duration lockWait;
    private final ListenerNotifier listeners;

    /**
     * Creates retries with these limits.
     *
     * @param lockWait the maximum time, over all attempts, to wait for locked rows, and to repeat a transaction that the server rolls
     *     back in favor of others
     */
    public Retries(int maxAttempts, Duration lockWait, ListenerNotifier listeners) {
        this.maxAttempts = maxAttempts;
        this.lockWait = lockWait;
        this.listeners = listeners;
    }

    /**
     * Runs the transaction. Throws the exception of the last attempt; for a commit of unknown outcome, the one of the connection.
     */
    public <T extends @Nullable Object> T call(Supplier<T> transaction) {
        long startedAt = System.nanoTime();
        for (int made = 1; true; made++) {
            try {
                return transaction.get();
            } catch (RuntimeException failure) {
                if (!isWorthAnotherAttempt(failure, made, System.nanoTime() - startedAt)) {
                    throw (RuntimeException) TransactionFailures.forCaller(failure);
                }
                Uninterruptibles.pause(BackOff.RETRIES.after(made).toNanos());
                listeners.tell(listener -> listener.retried(new SemaphoreListener.Retried(failure)));
            }
        }
    }

    /** Whether to try again. After waits for locks the time is limited, not the number of attempts. */
    private boolean isWorthAnotherAttempt(RuntimeException failure, int made, long elapsed) {
        return SqlErrors.isLockWait(failure)
                ? elapsed < lockWait.toNanos()
                : remain(failure, made, maxAttempts, elapsed, lockWait);
    }

    /**
     * Whether a failed transaction is tried again. If its connection broke, or the server rolled it back in favor of another one, the
     * time is limited: servers that certify writes do that again and again. After other conflicts the number of attempts is limited.
     *
     * @param made the number of attempts made
     * @param max the maximum number of attempts after other conflicts; 1 for no repetition at all
     * @param elapsedNanos the time since the first attempt began
     * @param conflicts the time limit for transactions that the server rolls back in favor of others
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
