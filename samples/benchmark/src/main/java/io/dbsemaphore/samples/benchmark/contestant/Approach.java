package io.dbsemaphore.samples.benchmark.contestant;

/** The ways to limit concurrency that are compared. */
public enum Approach {
    LIBRARY("DB Semaphore", "this library: many callers, one transaction", false),
    BARE_UPDATE(
            "bare UPDATE",
            "one committed UPDATE each to acquire and to release; grants nothing, checks nothing",
            false),
    TEXTBOOK("textbook", "lock, sum, insert, commit, one caller per transaction, a connection per thread", false),
    LOCK_REGISTRY("JdbcLockRegistry", "Spring Integration; a mutex", true),
    SHEDLOCK("ShedLock", "JdbcTemplateLockProvider; a mutex, asked again until it is free", true),
    REDISSON("Redisson", "RPermitExpirableSemaphore on Redis; not on this database at all", false);

    private final String label;
    private final String description;
    private final boolean mutex;

    Approach(String label, String description, boolean mutex) {
        this.label = label;
        this.description = description;
        this.mutex = mutex;
    }

    /** Its name in tables. */
    public String label() {
        return label;
    }

    /** What it does. */
    public String description() {
        return description;
    }

    /** Whether it only knows a capacity of 1. */
    public boolean isMutex() {
        return mutex;
    }

    /** Whether it takes several names at once, all or nothing. */
    public boolean takesSeveral() {
        return this == LIBRARY || this == TEXTBOOK || this == BARE_UPDATE;
    }
}
