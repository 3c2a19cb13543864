package io.dbsemaphore.engine.support;

import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.unit.CommitOutcomeUnknownException;
import java.time.Duration;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Tries a whole transaction again, commit included, when it lost against another one. The pauses are short and have jitter:
 * transactions that lost together should not meet again. An interrupt does not end that: the thread's interrupt flag is put
 * aside, and set again afterwards.
 */
public final class Retries {

    private final int maxAttempts;
    private final Duration lockWait;
    private final ListenerNotifier listeners;

    /**
     * Retries transactions.
     *
     * @param lockWait for how long, over all attempts, a transaction may wait for rows that another one has locked
     */
    public Retries(int maxAttempts, Duration lockWait, ListenerNotifier listeners) {
        this.maxAttempts = maxAttempts;
        this.lockWait = lockWait;
        this.listeners = listeners;
    }

    /**
     * Runs the transaction, and throws what its last attempt threw; for a commit without an answer, the failure of the
     * connection.
     */
    public <T extends @Nullable Object> T call(Supplier<T> transaction) {
        try (Attempts attempts = begin()) {
            while (true) {
                try {
                    return transaction.get();
                } catch (RuntimeException failure) {
                    attempts.pauseOrThrow(failure);
                }
            }
        }
    }

    /** Begins to count the attempts of one call, which the caller makes itself. */
    public Attempts begin() {
        return new Attempts();
    }

    /** The attempts of one call. */
    public final class Attempts implements AutoCloseable {

        private final long startedAt = System.nanoTime();
        private final BackOffExecution pauses;
        private boolean interrupted = Thread.interrupted();
        private int made;

        private Attempts() {
            ExponentialBackOff backOff = new ExponentialBackOff(20, 3);
            backOff.setJitter(15);
            backOff.setMaxInterval(500);
            pauses = backOff.start();
        }

        /** After an attempt has failed: pauses until the next one, or throws the failure where there is none. */
        public void pauseOrThrow(RuntimeException failure) {
            if (!RetryLimit.remain(failure, ++made, maxAttempts, System.nanoTime() - startedAt)
                    || hasWaitedTooLong(failure)) {
                throw failure instanceof CommitOutcomeUnknownException unknown ? unknown.translatedCause() : failure;
            }
            Uninterruptibles.pause(Deadline.in(Duration.ofMillis(pauses.nextBackOff())));
            interrupted |= Thread.interrupted();
            listeners.tell(listener -> listener.retried(failure));
        }

        private boolean hasWaitedTooLong(RuntimeException failure) {
            return SqlErrors.isLockWait(failure) && System.nanoTime() - startedAt >= lockWait.toNanos();
        }

        @Override
        public void close() {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }
}
