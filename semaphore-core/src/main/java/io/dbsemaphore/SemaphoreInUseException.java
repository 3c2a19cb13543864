package io.dbsemaphore;

/** A semaphore cannot be deleted while permits of it are held. */
public class SemaphoreInUseException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    private final String name;
    private final long held;

    /** Creates an exception for this semaphore. */
    public SemaphoreInUseException(String name, long held) {
        super(
                "Semaphore '%s' cannot be deleted while %d permit(s) of it are held. Set its capacity to 0, wait until they are"
                                .formatted(name, held)
                        + " released (SemaphoreAdmin.holders shows by whom they are held), and delete it then");
        this.name = name;
        this.held = held;
    }

    /** The semaphore. */
    public String name() {
        return name;
    }

    /** How many permits are held. */
    public long held() {
        return held;
    }
}
