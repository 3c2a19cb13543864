package io.dbsemaphore.persistence.unit;

import io.dbsemaphore.concurrent.BackOff;
import io.dbsemaphore.concurrent.Uninterruptibles;
import java.time.Duration;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Retries a whole transaction, commit included, after a conflict with another one or a lost connection. The short pauses have jitter, so
 * that transactions that failed together do not conflict again. Interrupts are ignored, and the thread's interrupt flag is kept.
 */
public final class Retries {

    private final int maxAttempts;
    private final Duration lockWait;
    private final Consumer<RuntimeException> retried;

    /**
     * Creates retries with these limits.
     *
     * @param lockWait the maximum time, over all attempts, to wait for locked rows, and to repeat a transaction that the server rolls
     *     back in favor of others
     * @param retried receives each failure after which the transaction is repeated
     */
    public Retries(int maxAttempts, Duration lockWait, Consumer<RuntimeException> retried) {
        this.maxAttempts = maxAttempts;
        this.lockWait = lockWait;
        this.retried = retried;
    }

    /**
     * Runs the transaction. Throws the exception of the last attempt; for a commit of unknown outcome, that of the connection.
     */
    public <T extends @Nullable Object> T call(Supplier<T> transaction) {
        long startedAt = System.nanoTime();
        for (int made = 1; true; made++) {
            try {
                return transaction.get();
            } catch (RuntimeException thrown) {
                Failure failure = Failure.of(thrown);
                if (!isWorthAnotherAttempt(failure, made, System.nanoTime() - startedAt)) {
                    throw (RuntimeException) failure.forCaller();
                }
                Uninterruptibles.pause(BackOff.RETRIES.after(made).toNanos());
                retried.accept(thrown);
            }
        }
    }

    /** Whether to try again. After waits for locks the time is limited, not the number of attempts. */
    private boolean isWorthAnotherAttempt(Failure failure, int made, long elapsed) {
        return failure.isLockWait()
                ? elapsed < lockWait.toNanos()
                : failure.retriesRemain(made, maxAttempts, elapsed, lockWait);
    }
}
