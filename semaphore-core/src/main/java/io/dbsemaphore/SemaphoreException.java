package io.dbsemaphore;

import org.jspecify.annotations.Nullable;

/** The root of what this library throws of its own; database trouble is Spring's {@code DataAccessException}. */
public abstract class SemaphoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception that says what happened, what follows, and what to do. */
    protected SemaphoreException(String message) {
        super(message);
    }

    /** Creates an exception with a cause. */
    protected SemaphoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
