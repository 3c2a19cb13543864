package io.dbsemaphore.admin;

import io.dbsemaphore.SemaphoreException;

/**
 * Thrown when a semaphore cannot be created on first use because the patterns have already created as many semaphores
 * as {@code semaphore.max-pattern-semaphores} allows. Nothing was acquired.
 */
public class PatternLimitExceededException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** The semaphore that was to be created. */
    private final String name;

    /**
     * Creates an exception for a semaphore.
     *
     * @param name the semaphore that was to be created
     * @param pattern the pattern that matches it
     * @param limit the largest number of semaphores that patterns may create
     */
    public PatternLimitExceededException(String name, String pattern, long limit) {
        super(
                "Semaphore '%s' cannot be created by pattern '%s': patterns have already created %d semaphores, the limit set by"
                                .formatted(name, pattern, limit)
                        + " semaphore.max-pattern-semaphores. Nothing was acquired. Raise the limit, or let maintenance remove"
                        + " idle semaphores sooner (semaphore.maintenance.pattern-idle-after)");
        this.name = name;
    }

    /** {@return the semaphore that was to be created} */
    public String name() {
        return name;
    }
}
