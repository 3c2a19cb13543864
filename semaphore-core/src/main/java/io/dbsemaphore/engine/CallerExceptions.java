package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreException;
import org.jspecify.annotations.Nullable;

/**
 * Converts exceptions of worker threads to exceptions of the caller, like {@link java.util.concurrent.ForkJoinTask}: of the same type, with
 * the caller's stack trace, and with the original, which several callers may share, as the cause.
 */
final class CallerExceptions {

    private CallerExceptions() {}

    static RuntimeException of(@Nullable Throwable failure) {
        if (failure instanceof SemaphoreException own) {
            own.fillInStackTrace(); // this instance belongs to one caller
            return own;
        }
        if (failure instanceof RuntimeException exception) {
            return copy(exception);
        }
        return new IllegalStateException("The database work of the semaphores failed: " + failure, failure);
    }

    private static RuntimeException copy(RuntimeException failure) {
        try {
            return failure.getClass()
                    .getConstructor(String.class, Throwable.class)
                    .newInstance(failure.getMessage(), failure);
        } catch (ReflectiveOperationException | RuntimeException impossible) {
            return failure;
        }
    }
}
