package io.dbsemaphore;

/** What a release did. */
public enum ReleaseOutcome {

    /** The permits were held and are free now. */
    RELEASED,

    /** There was nothing left to do: released before, or taken back after the expiry. */
    ALREADY_RELEASED,

    /** No request with this external id is known: never acquired, or removed after the retention. */
    NOT_FOUND,

    /**
     * The grant was checked by {@link SemaphoreOperations#requireHeld} in a transaction that is still open on this
     * thread, for which a release would have to wait. It is released when that transaction completes, by a thread of
     * the library.
     */
    DEFERRED
}
