package io.dbsemaphore.boot.autoconfigure;

/** What happens at start to the capacity of a semaphore that is in the database with another one than is configured. */
public enum CapacityAtStart {

    /** It stays as it is, and a warning is logged. */
    KEEP,

    /** It becomes what is configured, which is audited as a change by {@code configuration}. */
    APPLY
}
