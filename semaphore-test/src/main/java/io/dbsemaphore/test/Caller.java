package io.dbsemaphore.test;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.spi.PermitManager.AcquireResult;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Executor;

/**
 * A caller that acquires.
 *
 * @param externalId the external id of the request, or one that was generated for it
 * @param forWork whether the caller is about to run work under the grant
 * @param since when it called
 * @param delivery completes the answer
 */
record Caller(
        AcquireRequest request,
        String externalId,
        boolean forWork,
        Instant since,
        Duration waitTime,
        CompletableFuture<AcquireResult> answer,
        Executor delivery) {

    /** Whether it may get the grant of an earlier acquire with the same external id. */
    boolean acceptsReplay() {
        return !forWork || request.isAdopt();
    }

    boolean wantsKeepAlive() {
        return request.keepAlive().orElse(forWork) && !request.isWithoutTtl();
    }

    /** Whether it has a wait time. */
    boolean waits() {
        return !waitTime.isZero();
    }

    /** A caller that does not wait has none. */
    Duration headStart() {
        return waits() ? request.headStart() : Duration.ZERO;
    }

    /** Its share; empty if it has none. */
    String share() {
        return request.share().orElse("");
    }

    /** Its place in the queue. */
    Instant place() {
        return since.minus(headStart());
    }

    Instant deadline() {
        return since.plus(waitTime);
    }
}
