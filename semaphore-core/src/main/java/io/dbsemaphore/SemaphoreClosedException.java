package io.dbsemaphore;

/**
 * This application instance acquires no permits: it is shutting down, or its semaphores are stopped until they are
 * started again.
 */
public class SemaphoreClosedException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception for an instance that is shutting down. */
    public SemaphoreClosedException() {
        this("This application instance is shutting down and acquires no permits any more; nothing was acquired."
                + " Try again on another instance");
    }

    /** Creates an exception. */
    public SemaphoreClosedException(String message) {
        super(message);
    }
}
