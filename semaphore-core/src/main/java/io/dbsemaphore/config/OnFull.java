package io.dbsemaphore.config;

/**
 * Selects who is refused when {@link SemaphoreSettings#MAX_WAITING} callers wait for a semaphore, or
 * {@link SemaphoreSettings#MAX_WAITING_PER_SHARE} with the same share, and a further one would wait, too.
 */
public enum OnFull {

    /** The new caller is refused. */
    KEEP_OLDEST,

    /**
     * The new caller waits, and the one that has waited longest is refused, of all or of those with its share. If that one waits in another
     * instance, it is refused by the next poll or transaction there. If only one may wait, the last of many callers is the next holder. If
     * none may wait, the new caller is refused.
     */
    KEEP_NEWEST
}
