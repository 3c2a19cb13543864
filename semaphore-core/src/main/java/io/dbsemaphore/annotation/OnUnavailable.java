package io.dbsemaphore.annotation;

/** What a {@link WithPermits} method does when its permits did not become free within the wait time. */
public enum OnUnavailable {

    /** Throws {@link io.dbsemaphore.PermitsUnavailableException} to the caller. */
    THROW,

    /**
     * Does not run, and returns nothing: {@code null}, an empty {@code Optional}, a future that is completed with
     * {@code null}, a publisher without elements. Not possible where a primitive is returned.
     */
    SKIP
}
