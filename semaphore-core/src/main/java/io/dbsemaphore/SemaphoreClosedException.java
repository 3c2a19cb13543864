package io.dbsemaphore;

/** This application instance is shutting down and acquires no permits any more. */
public class SemaphoreClosedException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** Creates an exception. */
    public SemaphoreClosedException() {
        super("This application instance is shutting down and acquires no permits any more; nothing was acquired."
                + " Try again on another instance");
    }
}
