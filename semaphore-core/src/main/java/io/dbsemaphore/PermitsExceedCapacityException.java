package io.dbsemaphore;

/** More permits were asked for than the semaphore has. Waiting cannot help, unless someone raises the capacity. */
public class PermitsExceedCapacityException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    private final String name;
    private final int requested;
    private final int capacity;

    /** Creates an exception for this semaphore. */
    public PermitsExceedCapacityException(String name, int requested, int capacity) {
        super(
                "Semaphore '%s' has a capacity of %d, %d permits can never be acquired: ask for less, or raise the capacity"
                        .formatted(name, capacity, requested));
        this.name = name;
        this.requested = requested;
        this.capacity = capacity;
    }

    /** The semaphore. */
    public String name() {
        return name;
    }

    /** How many permits were asked for. */
    public int requested() {
        return requested;
    }

    /** How many it has. */
    public int capacity() {
        return capacity;
    }
}
