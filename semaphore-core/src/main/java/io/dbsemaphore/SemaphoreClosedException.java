package io.dbsemaphore;

/**
 * Thrown by an acquire while this application instance is shutting down or stopped. Nothing was acquired.
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
