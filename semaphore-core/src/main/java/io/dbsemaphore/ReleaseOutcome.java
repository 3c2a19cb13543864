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
     * The grant was checked by {@link SemaphoreOperations#requireHeld} in a transaction that is still open on the
     * calling thread, and its release would wait for that transaction. The library releases it when the transaction
     * completes, without blocking the thread that completes it.
     */
    DEFERRED
}
