package io.dbsemaphore.engine;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.persistence.StoredGrant;

/** How a grant of this JVM is released. */
interface Releases extends AutoCloseable {

    /**
     * Releases it, as often as is worth trying. An interrupt does not end that.
     *
     * @throws RuntimeException when it failed
     */
    ReleaseOutcome release(StoredGrant grant);

    /**
     * Releases it along with the next grants, where they {@linkplain Grants#takesAlong take it}.
     *
     * @param handedIn runs as soon as they can
     * @throws RuntimeException when it failed
     */
    ReleaseOutcome releaseAlong(StoredGrant grant, Runnable handedIn);

    /** Lets what is under way come to its end. */
    @Override
    void close();
}
