package io.dbsemaphore.domain;

/** The outcome of an offer of permits to the waiting callers of this JVM. */
public enum HandoverOutcome {
    DONE,
    NOBODY_WAITS,
    /** The first one asks for something else, or others come before it, or only callers of several semaphores wait. */
    NOT_POSSIBLE
}
