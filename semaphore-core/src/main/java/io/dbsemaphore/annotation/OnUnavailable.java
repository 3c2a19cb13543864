package io.dbsemaphore.annotation;

/** Selects what happens when a {@link WithPermits} method does not get its permits within the wait time. */
public enum OnUnavailable {

    /** Throw {@link io.dbsemaphore.PermitsUnavailableException} to the caller. */
    THROW,

    /**
     * Skip the method and return an empty result: {@code null}, an empty {@code Optional}, a future completed with
     * {@code null}, or an empty publisher. Rejected at start-up for primitive return types, and for return types that are not nullable in
     * Kotlin or according to JSpecify.
     */
    SKIP
}
