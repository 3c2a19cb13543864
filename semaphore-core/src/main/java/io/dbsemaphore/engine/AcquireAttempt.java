package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.engine.batch.WaitTime;

/**
 * An acquire that has begun.
 *
 * @param command the request with the configured defaults
 * @param begunAt when it began, by {@link System#nanoTime}
 * @param keptAlive whether this JVM renews the grant until it is released
 * @param forWork whether a shutdown waits for the work under the grant
 */
record AcquireAttempt(
        AcquireRequest request,
        AcquireCommand command,
        WaitTime waitTime,
        long begunAt,
        boolean keptAlive,
        boolean forWork) {}
