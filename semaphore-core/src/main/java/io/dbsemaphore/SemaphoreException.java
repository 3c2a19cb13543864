package io.dbsemaphore;

import org.jspecify.annotations.Nullable;

/**
 * The root of the library's own exceptions. Database failures are thrown as Spring's
 * {@link org.springframework.dao.DataAccessException}.
 */
public abstract class SemaphoreException extends RuntimeException {

    private static final long serialVersionUID = 1L;

    /**
     * Creates an exception.
     *
     * @param message the event, its consequence, and the action to take
     */
    protected SemaphoreException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message the event, its consequence, and the action to take
     * @param cause the cause, if any
     */
    protected SemaphoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
