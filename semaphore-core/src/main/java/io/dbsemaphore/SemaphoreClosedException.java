package io.dbsemaphore;

/**
 * Thrown by an acquire if this application instance acquires no permits: it is shutting down, or is stopped until it is
 * started again. Nothing was acquired.
 */
public class SemaphoreClosedException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception for an instance that is shutting down. */
    public SemaphoreClosedException() {
        this("This application instance is shutting down and no longer acquires permits. Nothing was acquired."
                + " Try again on another instance");
    }

    /**
     * Creates an exception.
     *
     * @param message the reason, and the action to take
     */
    public SemaphoreClosedException(String message) {
        super(message);
    }
}
