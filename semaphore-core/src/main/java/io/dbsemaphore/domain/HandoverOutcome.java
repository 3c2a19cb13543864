package io.dbsemaphore.domain;

/** What became of permits that were offered to callers of this JVM that wait. */
public enum HandoverOutcome {
    DONE,
    NOBODY_WAITS,
    /** The first one asks for something else, or others come before it, or only callers of several semaphores wait. */
    NOT_POSSIBLE
}
