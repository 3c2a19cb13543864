package io.dbsemaphore;

import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/**
 * What can be asked of the semaphores. Implemented by {@link SemaphoreTemplate}, the bean to inject; an interface of its
 * own so that application code can be tested without a database.
 *
 * <p>All methods are safe for use by any number of threads. Acquire, release and renewal run in transactions of their
 * own: they neither see nor join a transaction of the caller, and what they did stays done when the caller's transaction
 * rolls back. Only {@link #requireHeld} runs in the caller's transaction.
 *
 * <p>Database trouble that outlives the retries is thrown as Spring's
 * {@link org.springframework.dao.DataAccessException}.
 */
public interface SemaphoreOperations {

    /**
     * Acquires all permits of the request or none, waiting up to its wait time (by default not at all).
     *
     * <p>A request with an {@linkplain AcquireRequest#withExternalId external id} that is already held returns the same
     * grant with the same tokens, its time to live begun anew.
     *
     * @return the grant, held until it is released or its time to live has passed
     * @throws PermitsUnavailableException when the permits did not become free within the wait time
     * @throws PermitsExceedCapacityException when more was asked than a semaphore will ever have
     * @throws SemaphoreNotFoundException when a named semaphore does not exist
     * @throws RequestAlreadyReleasedException when the request with this external id has been released
     * @throws RequestConflictException when this external id belongs to a request for something else
     * @throws AcquireInterruptedException when the thread was interrupted; nothing is held
     * @throws AcquireOutcomeUnknownException when the database stayed away between commit and answer
     * @throws IllegalArgumentException when the request breaks a configured bound
     */
    PermitGrant acquire(AcquireRequest request);

    /**
     * Does what {@link #acquire} does, but returns an empty value instead of throwing
     * {@link PermitsUnavailableException}.
     */
    Optional<PermitGrant> tryAcquire(AcquireRequest request);

    /**
     * Does what {@link #acquire} does without keeping the calling thread: however many acquires wait, no thread waits for
     * them.
     *
     * <p>The future is completed on a thread of the library that is there for that, and that what follows may block.
     * Cancelling it, or completing it in any other way, as {@code orTimeout} does, ends the acquire: one that waits leaves the
     * queue at once, and one that is granted nevertheless is released.
     *
     * @return the grant; completed exceptionally with what {@link #acquire} throws once the request has been accepted
     * @throws IllegalArgumentException when the request breaks a configured bound
     * @throws SemaphoreClosedException when this application instance is shutting down
     */
    CompletableFuture<PermitGrant> acquireAsync(AcquireRequest request);

    /**
     * Acquires, runs the work on the calling thread, and releases, whatever the outcome of the work.
     *
     * <p>The grant is kept alive while the work runs, unless the request says otherwise. A release that fails does not
     * change the outcome of the work: it is logged, added as suppressed to an exception of the work, and tried again in
     * the background.
     *
     * @return what the work returned
     * @throws X what the work threw
     * @throws RequestInProgressException when the external id is held already and the request does not
     *     {@linkplain AcquireRequest#withAdopt adopt} it: the work would run twice under one permit
     * @see #acquire for the exceptions of the acquire
     */
    <T extends @Nullable Object, X extends Throwable> T execute(AcquireRequest request, PermitCallback<T, X> work)
            throws X;

    /** Does what {@link #execute} does, for work that returns nothing. */
    <X extends Throwable> void executeWithoutResult(AcquireRequest request, PermitAction<X> work) throws X;

    /**
     * Releases what the acquire with this external id holds. Any thread and any process may release, not only the one
     * that acquired.
     */
    ReleaseOutcome release(String externalId);

    /** Returns the held grant of this external id, without changing anything; empty when nothing is held under it. */
    Optional<PermitGrant> find(String externalId);

    /**
     * Sets the expiry of a held grant to now + {@code ttl}, be that sooner or later than before.
     *
     * @throws PermitLostException when the grant is no longer held: released, expired or unknown
     * @throws IllegalArgumentException when the time to live is out of bounds
     */
    PermitGrant renew(String externalId, Duration ttl);

    /**
     * Makes it impossible to commit the caller's transaction on a permit that was taken away: within that transaction
     * the permits are checked to be held, and whoever wants to take them away afterwards waits until it ends.
     *
     * <p>Runs on the caller's connection, in the caller's transaction, which must be writable and on the same
     * {@code DataSource} as the semaphores. On Galera and Group Replication others do not wait: there the commit of the
     * later one of the two fails, be it theirs or the caller's.
     *
     * @throws PermitLostException when the grant is no longer held; the caller's transaction must not commit
     * @throws org.springframework.dao.ConcurrencyFailureException when another transaction was in the way, such as one
     *     that takes the permits away just now, or a deadlock; the caller's transaction may be tried again as a whole
     * @throws org.springframework.transaction.IllegalTransactionStateException without such a transaction
     */
    void requireHeld(PermitGrant grant);
}
