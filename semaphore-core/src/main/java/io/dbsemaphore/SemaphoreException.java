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
     * @param message what happened, the consequence, and what to do
     */
    protected SemaphoreException(String message) {
        super(message);
    }

    /**
     * Creates an exception with a cause.
     *
     * @param message what happened, the consequence, and what to do
     * @param cause the cause, if any
     */
    protected SemaphoreException(String message, @Nullable Throwable cause) {
        super(message, cause);
    }
}
