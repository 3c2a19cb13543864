package io.dbsemaphore;

/** The outcome of a release. */
public enum ReleaseOutcome {

    /** The permits were held and are available now. */
    RELEASED,

    /** There was nothing to release: the grant was released before, or was reclaimed after it had expired. */
    ALREADY_RELEASED,

    /**
     * No request with this external id is known: it was never acquired, or was deleted after
     * {@code semaphore.maintenance.request-retention}.
     */
    NOT_FOUND,

    /**
     * The library releases the permits later, in the background. Either {@link SemaphoreOperations#requireHeld} checked the grant in a
     * transaction that is still open on the calling thread: the release follows when that transaction has completed. Or the release failed:
     * this is logged, and the library repeats the release until it succeeds or the time to live has passed.
     */
    DEFERRED
}
