package io.dbsemaphore.domain;

/** The outcome of an offer of permits to the waiting callers of this JVM. */
public enum HandoverOutcome {
    DONE,
    NOBODY_WAITS,
    /** The first caller asks for something else, callers of other instances come first, or only callers of several semaphores wait. */
    NOT_POSSIBLE
}
