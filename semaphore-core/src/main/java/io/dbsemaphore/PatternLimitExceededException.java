package io.dbsemaphore;

/** A semaphore could not be made on first use, since patterns have made as many as they may. */
public class PatternLimitExceededException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    private final String name;

    /** Creates an exception for the semaphore that was to be made. */
    public PatternLimitExceededException(String name, String pattern, long limit) {
        super(
                "Semaphore '%s' cannot be made by the pattern '%s': patterns have made %d semaphores already, the most that"
                                .formatted(name, pattern, limit)
                        + " semaphore.max-pattern-semaphores allows. Nothing was acquired. Raise it, or let maintenance remove idle"
                        + " ones sooner (semaphore.maintenance.pattern-idle-after)");
        this.name = name;
    }

    /** The semaphore. */
    public String name() {
        return name;
    }
}
