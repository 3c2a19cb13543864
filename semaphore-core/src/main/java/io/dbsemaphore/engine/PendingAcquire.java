package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.engine.support.WaitTime;
import org.jspecify.annotations.Nullable;

/**
 * An acquire that has begun.
 *
 * @param state the request with the configured defaults, and what has happened to it
 * @param startedAt when it began, by {@link System#nanoTime}
 * @param keptAlive whether this JVM renews the grant until it is released
 * @param forWork whether a shutdown waits for the work under the grant
 * @param acquiredAt the stack of the caller, where leaks are detected
 */
record PendingAcquire(
        AcquireRequest request,
        AcquireState state,
        WaitTime waitTime,
        long startedAt,
        boolean keptAlive,
        boolean forWork,
        @Nullable Throwable acquiredAt) {}
