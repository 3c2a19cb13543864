package io.dbsemaphore.admin;

import io.dbsemaphore.SemaphoreException;

/** Thrown when a semaphore cannot be deleted because permits of it are held. */
public class SemaphoreInUseException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** The semaphore. */
    private final String name;
    /** How many permits are held. */
    private final long held;

    /**
     * Creates an exception for a semaphore.
     *
     * @param name the semaphore
     * @param held how many permits are held
     */
    public SemaphoreInUseException(String name, long held) {
        super(
                "Semaphore '%s' cannot be deleted while %d permit(s) of it are held. Set its capacity to 0, wait until they are"
                                .formatted(name, held)
                        + " released (SemaphoreAdmin.holders lists the holders), then delete it");
        this.name = name;
        this.held = held;
    }

    /** {@return the semaphore} */
    public String name() {
        return name;
    }

    /** {@return how many permits are held} */
    public long held() {
        return held;
    }
}
