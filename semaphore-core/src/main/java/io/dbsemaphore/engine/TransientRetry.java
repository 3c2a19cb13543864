package io.dbsemaphore.engine;

import io.dbsemaphore.persistence.CommitOutcomeUnknownException;
import io.dbsemaphore.persistence.SemaphorePersistence;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.springframework.core.retry.RetryPolicy;
import org.springframework.core.retry.RetryTemplate;

/**
 * Tries a whole transaction again, commit included, when it lost against another one. The delays are short and spread:
 * those who lost together should not meet again.
 */
final class TransientRetry {

    private final RetryTemplate template;
    private final Listeners listeners;

    TransientRetry(int maxAttempts, Listeners listeners) {
        this.listeners = listeners;
        template = new RetryTemplate(RetryPolicy.builder()
                .maxRetries(maxAttempts - 1L)
                .delay(Duration.ofMillis(20))
                .jitter(Duration.ofMillis(15))
                .multiplier(3)
                .maxDelay(Duration.ofMillis(500))
                .predicate(SemaphorePersistence::isWorthRepeating)
                .build());
    }

    /**
     * Runs the transaction, and throws what its last attempt threw; for a commit without an answer, what it met. An
     * interrupt does not end it: what was begun is brought to its end, and the flag is set again afterwards.
     */
    <T extends @Nullable Object> T call(Supplier<T> transaction) {
        boolean interrupted = Thread.interrupted();
        Supplier<T> attempts = tellingRetries(transaction);
        try {
            while (true) {
                try {
                    return template.invoke(attempts);
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
