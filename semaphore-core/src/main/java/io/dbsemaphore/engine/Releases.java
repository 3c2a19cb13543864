package io.dbsemaphore.engine;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.persistence.StoredGrant;

/** How a grant of this JVM is released: with those of other callers, or by itself. */
interface Releases extends AutoCloseable {

    /**
     * Releases it, as often as is worth trying. An interrupt does not end that.
     *
     * @throws RuntimeException when it failed
     */
    ReleaseOutcome release(StoredGrant grant);

    /** Lets what is under way come to its end. */
    @Override
    void close();
}
