package io.dbsemaphore;

/**
 * Thrown when a request asks for more permits than the capacity of a semaphore. Waiting or retrying does not help
 * unless the capacity is raised. Not thrown for a paused semaphore (capacity 0), whose permits are merely unavailable.
 */
public class PermitsExceedCapacityException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** The semaphore. */
    private final String name;
    /** How many permits were requested. */
    private final int requested;
    /** The capacity of the semaphore. */
    private final int capacity;

    /**
     * Creates an exception for a semaphore.
     *
     * @param name the semaphore
     * @param requested how many permits were requested
     * @param capacity its capacity
     */
    public PermitsExceedCapacityException(String name, int requested, int capacity) {
        super(
                "Semaphore '%s' has a capacity of %d, so %d permits can never be acquired: request fewer, or raise the capacity"
                        .formatted(name, capacity, requested));
        this.name = name;
        this.requested = requested;
        this.capacity = capacity;
    }

    /** {@return the semaphore} */
    public String name() {
        return name;
    }

    /** {@return how many permits were requested} */
    public int requested() {
        return requested;
    }

    /** {@return the capacity of the semaphore} */
    public int capacity() {
        return capacity;
    }
}
