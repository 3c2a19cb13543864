package io.dbsemaphore.engine.support;

import io.dbsemaphore.SemaphoreException;
import org.jspecify.annotations.Nullable;

/**
 * Converts exceptions of worker threads to exceptions of the caller: of the same type, with the stack trace of the caller, and
 * caused by the original, which several callers may share. As {@link java.util.concurrent.ForkJoinTask} does.
 */
public final class CallerExceptions {

    private CallerExceptions() {}

    public static RuntimeException of(@Nullable Throwable failure) {
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
