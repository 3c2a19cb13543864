package io.dbsemaphore.boot.autoconfigure;

/** What to do at start if the capacity of a semaphore in the database differs from the configured one. */
public enum CapacityAtStart {

    /** Keep the capacity in the database, and log a warning. */
    KEEP,

    /** Change the capacity to the configured one. The change is audited with {@code configuration} as the operator. */
    APPLY
}
