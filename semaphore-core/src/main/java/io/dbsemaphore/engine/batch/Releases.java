package io.dbsemaphore.engine.batch;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.domain.StoredGrant;
import java.util.concurrent.CompletableFuture;

/** How a grant of this JVM is released. */
public interface Releases extends AutoCloseable {

    /**
     * Releases it, as often as is worth trying. An interrupt does not end that.
     *
     * @throws RuntimeException when it failed
     */
    ReleaseOutcome release(StoredGrant grant);

    /** Has it released by a thread of the library, which completes the future. */
    CompletableFuture<ReleaseOutcome> submitAsync(StoredGrant grant);

    /**
     * Has it released along with the next grants, where they {@linkplain Granter#acceptsReleases take it}. A thread of the library
     * completes the future.
     *
     * @param submitted runs as soon as they can
     */
    CompletableFuture<ReleaseOutcome> submitPiggyBacked(StoredGrant grant, Runnable submitted);

    /** Lets what is under way come to its end. */
    @Override
    void close();
}
