package io.dbsemaphore;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The engine behind {@link SemaphoreTemplate}, as a {@code PlatformTransactionManager} is behind Spring's
 * {@code TransactionTemplate}: it grants, releases and renews, and knows nothing of callbacks.
 *
 * <p>Applications use {@link SemaphoreOperations}.
 */
public interface PermitManager {

    /**
     * Acquires as {@link SemaphoreOperations#acquire} says; {@link AcquireResult.Unavailable} when the permits did not
     * become free in time.
     */
    AcquireResult acquire(AcquireRequest request);

    /**
     * Acquires for work that this process is about to do: kept alive unless the request says otherwise, and refused
     * with {@link RequestInProgressException} where the external id is held already and is not to be adopted.
     */
    AcquireResult acquireForWork(AcquireRequest request);

    /**
     * Does what {@link #acquire} does without keeping the calling thread, see {@link SemaphoreOperations#acquireAsync}. Once
     * somebody else has completed the future, an acquire that waits is given up, and a grant is released.
     */
    CompletableFuture<AcquireResult> acquireAsync(AcquireRequest request);

    /** See {@link SemaphoreOperations#release}. */
    ReleaseOutcome release(String externalId);

    /** See {@link SemaphoreOperations#find}. */
    Optional<PermitGrant> find(String externalId);

    /** See {@link SemaphoreOperations#renew}. */
    PermitGrant renew(String externalId, Duration ttl);

    /** See {@link SemaphoreOperations#requireHeld}. */
    void requireHeld(PermitGrant grant);
}
