package io.dbsemaphore;

/**
 * Knows whether an owner is still there, where the time to live cannot know: a job that is registered without one. A bean
 * of this type is asked by the orphan release; of several, the first that does not say {@link Liveness#UNKNOWN} counts.
 *
 * <p>Called on the library's maintenance thread, outside any transaction. What it throws counts as UNKNOWN.
 */
@FunctionalInterface
public interface OwnerLiveness {

    /**
     * Tells whether the owner is there. DEAD twice in a row, a grace apart, releases what it holds; UNKNOWN never does.
     *
     * @param owner as the request gave it
     */
    Liveness check(String owner);
}
