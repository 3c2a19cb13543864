package io.dbsemaphore.engine;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.persistence.StoredGrant;
import java.util.concurrent.CompletableFuture;

/** How a grant of this JVM is released. */
interface Releases extends AutoCloseable {

    /**
     * Releases it, as often as is worth trying. An interrupt does not end that.
     *
     * @throws RuntimeException when it failed
     */
    ReleaseOutcome release(StoredGrant grant);

    /** Has it released by a thread of the library, which completes the future. */
    CompletableFuture<ReleaseOutcome> handIn(StoredGrant grant);

    /**
     * Has it released along with the next grants, where they {@linkplain Grants#takesAlong take it}. A thread of the library
     * completes the future.
     *
     * @param handedIn runs as soon as they can
     */
    CompletableFuture<ReleaseOutcome> handInToRide(StoredGrant grant, Runnable handedIn);

    /** Lets what is under way come to its end. */
    @Override
    void close();
}
