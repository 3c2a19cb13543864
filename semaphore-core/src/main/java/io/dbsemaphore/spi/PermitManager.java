package io.dbsemaphore.spi;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.RequestInProgressException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/**
 * The engine behind {@link io.dbsemaphore.SemaphoreTemplate}, as {@code PlatformTransactionManager} is behind Spring's
 * {@code TransactionTemplate}: it grants, releases and renews, but runs no callbacks. Applications use
 * {@link io.dbsemaphore.SemaphoreOperations}.
 *
 * <p>Thread-safe. Unless stated otherwise, each method behaves and fails like the method of {@link io.dbsemaphore.SemaphoreOperations} with
 * the same name.
 */
public interface PermitManager {

    /**
     * Acquires as {@code SemaphoreOperations.acquire} does.
     *
     * @param request the permits to acquire, for how long, and how long to wait
     * @return the grant, or {@link AcquireResult.Unavailable} if the permits did not become available within the wait
     *     time
     */
    AcquireResult acquire(AcquireRequest request);

    /**
     * Acquires for work that the calling thread is about to run: the grant is kept alive unless the request says otherwise. A shutdown
     * waits for the release, unless the calling thread itself closes the engine or calls {@link System#exit}.
     *
     * @param request the permits to acquire, for how long, and how long to wait
     * @return the grant, or {@link AcquireResult.Unavailable} if the permits did not become available within the wait
     *     time
     * @throws RequestInProgressException if the external id is already held and the request does not
     *     {@linkplain AcquireRequest#withAdopt adopt} it
     */
    AcquireResult acquireForWork(AcquireRequest request);

    /**
     * Acquires as {@link #acquire} does, without blocking the calling thread; see
     * {@code SemaphoreOperations.acquireAsync}. If the application completes the future, a waiting acquire ends, and a grant is
     * released.
     *
     * @param request the permits to acquire, for how long, and how long to wait
     * @return the result of the acquire
     */
    CompletableFuture<AcquireResult> acquireAsync(AcquireRequest request);

    /**
     * Releases as {@code SemaphoreOperations.release} does.
     *
     * @param externalId the external id of the grant
     * @return the outcome of the release
     */
    ReleaseOutcome release(String externalId);

    /**
     * Finds a grant as {@code SemaphoreOperations.find} does.
     *
     * @param externalId the external id of the grant
     * @return the grant; empty if nothing is held under this id
     */
    Optional<PermitGrant> find(String externalId);

    /**
     * Renews as {@code SemaphoreOperations.renew} does.
     *
     * @param externalId the external id of the grant
     * @param ttl the new time to live
     * @return the renewed grant
     * @throws PermitLostException if the grant is no longer held
     */
    PermitGrant renew(String externalId, Duration ttl);

    /**
     * Checks a grant as {@code SemaphoreOperations.requireHeld} does.
     *
     * @param grant the grant to check
     * @throws PermitLostException if the grant is no longer held
     */
    void requireHeld(PermitGrant grant);

    /**
     * Reads who holds the permits of a semaphore, for the message of a refusal. Never throws, and waits for a short time only.
     *
     * @param name the semaphore
     * @return up to three holders, the earliest acquire first, each with owner, instance, label and time of acquire; empty if unknown
     */
    default List<String> firstHolders(String name) {
        return List.of();
    }

    /** The outcome of an acquire. Unavailable permits are a value, not an exception. */
    sealed interface AcquireResult {

        /**
         * The permits are held.
         *
         * @param grant the grant
         */
        record Granted(PermitGrant grant) implements AcquireResult {}

        /**
         * The permits did not become available within the wait time; nothing is held.
         *
         * @param shortages the semaphores without enough available permits
         * @param waitTime how long the acquire was to wait, by its request or by configuration
         */
        record Unavailable(List<PermitShortage> shortages, Duration waitTime) implements AcquireResult {

            /**
             * Copies the list.
             *
             * @param shortages the semaphores without enough available permits
             * @param waitTime how long the acquire was to wait
             */
            public Unavailable {
                shortages = List.copyOf(shortages);
            }
        }
    }
}
