package io.dbsemaphore.samples.backup;

/** What a job does, and so which permits it needs. */
public enum JobKind {

    /** Needs a permit of {@code backup} and one of {@code network}. */
    BACKUP,

    /** Needs a permit of {@code network}. */
    REPLICATION
}
