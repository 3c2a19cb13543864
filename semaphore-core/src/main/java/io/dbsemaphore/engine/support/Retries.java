package io.dbsemaphore.engine.support;

import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.persistence.unit.CommitOutcomeUnknownException;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.retry.RetryPolicy;
import org.springframework.core.retry.RetryTemplate;
import org.springframework.util.backoff.BackOff;
import org.springframework.util.backoff.ExponentialBackOff;

/**
 * Tries a whole transaction again, commit included, when it lost against another one. The delays are short and spread:
 * those who lost together should not meet again.
 */
public final class Retries {

    private final int maxAttempts;
    private final ListenerNotifier listeners;

    public Retries(int maxAttempts, ListenerNotifier listeners) {
        this.listeners = listeners;
        this.maxAttempts = maxAttempts;
    }

    /** Counts the attempts of one call. */
    private final class Policy implements RetryPolicy {

        private final long begunAt = System.nanoTime();
        private int made;

        @Override
        public boolean shouldRetry(Throwable failure) {
            return RetryLimit.remain(failure, ++made, maxAttempts, begunAt);
        }

        @Override
        public BackOff getBackOff() {
            ExponentialBackOff backOff = new ExponentialBackOff(20, 3);
            backOff.setJitter(15);
            backOff.setMaxInterval(500);
            return backOff;
        }
    }

    /**
     * Runs the transaction, and throws what its last attempt threw; for a commit without an answer, what it met. An
     * interrupt does not end it: what was begun is brought to its end, and the flag is set again afterwards.
     */
    public <T extends @Nullable Object> T call(Supplier<T> transaction) {
        boolean interrupted = Thread.interrupted();
        Supplier<T> attempts = tellingRetries(transaction);
        try {
            while (true) {
                try {
                    return new RetryTemplate(new Policy()).invoke(attempts);
                } catch (RuntimeException failure) {
                    if (!Thread.interrupted() || !SemaphorePersistence.isWorthRepeating(failure)) {
                        throw failure instanceof CommitOutcomeUnknownException unknown
                                ? unknown.translatedCause()
                                : failure;
                    }
                    interrupted = true; // the template gives up in a pause that is interrupted; we begin anew
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private <T extends @Nullable Object> Supplier<T> tellingRetries(Supplier<T> transaction) {
        AtomicReference<@Nullable RuntimeException> last = new AtomicReference<>();
        return () -> {
            RuntimeException failure = last.get();
            if (failure != null) {
                listeners.tell(listener -> listener.retried(failure));
            }
            try {
                return transaction.get();
            } catch (RuntimeException failed) {
                last.set(failed);
                throw failed;
            }
        };
    }
}
