package io.dbsemaphore.aop;

import org.jspecify.annotations.Nullable;

/** Thrown at start-up for a {@link io.dbsemaphore.annotation.WithPermits} annotation that cannot work on its method. */
public final class UnguardableMethodException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception whose message begins with the problem, as one sentence; the rest says what to do. */
    UnguardableMethodException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
