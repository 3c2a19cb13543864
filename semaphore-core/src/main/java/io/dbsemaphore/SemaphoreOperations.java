package io.dbsemaphore;

import io.dbsemaphore.admin.CapacityUnknownException;
import io.dbsemaphore.admin.PatternLimitExceededException;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * The operations on semaphores. {@link SemaphoreTemplate} implements it and is the bean to inject; the interface allows
 * application code to be tested without a database.
 *
 * <p>Thread-safe. Every method except {@link #requireHeld} runs in its own transactions: they neither see nor join a
 * transaction of the caller, and are not rolled back with it. A transaction that fails is tried up to {@code semaphore.jdbc.max-attempts}
 * (3) times, except:
 *
 * <ul>
 *   <li>After a deadlock, or a conflict between servers that certify writes, it is repeated for {@code semaphore.jdbc.lock-wait-timeout} (5
 *       seconds); an acquire is repeated until {@code semaphore.jdbc.decision-timeout} after its deadline.
 *   <li>If a lock wait times out, it is repeated for {@code semaphore.jdbc.lock-wait-timeout}; an acquire with a wait time is repeated for
 *       up to {@code semaphore.jdbc.max-attempts} times as long.
 *   <li>After a lost connection, it is repeated for 5 seconds; an acquire with a wait time is repeated until its deadline.
 * </ul>
 *
 * <p>If the database fails despite the retries, a {@link org.springframework.dao.DataAccessException} is thrown.
 */
public interface SemaphoreOperations {

    /**
     * Acquires all permits of the request, or none. The permits expire after the time to live: for work of the calling thread use
     * {@link #execute} or {@link AcquireRequest#withKeepAlive withKeepAlive(true)}. Blocks the calling thread for up to the
     * {@linkplain AcquireRequest#withWaitTime wait time} plus the duration of the transaction.
     *
     * <p>If the request has an {@linkplain AcquireRequest#withExternalId external id} that is already held, the same
     * grant is returned with the same fencing tokens, and its time to live starts again.
     *
     * <p>If this method throws, nothing is held, except after an {@link AcquireOutcomeUnknownException}.
     *
     * @param request the permits to acquire, for how long, and how long to wait
     * @return the grant, held until it is released or expires
     * @throws PermitsUnavailableException if the permits did not become available within the wait time
     * @throws PermitsExceedCapacityException if more permits are requested than the capacity of a semaphore
     * @throws SemaphoreNotFoundException if a semaphore does not exist and no pattern matches its name
     * @throws PatternLimitExceededException if a semaphore cannot be created by its pattern
     * @throws CapacityUnknownException if the application's provider of capacities fails for a semaphore that a pattern is to create
     * @throws RequestAlreadyReleasedException if the request with this external id has been released
     * @throws RequestConflictException if the external id belongs to a request for other permits
     * @throws PermitLostException if the answer to the commit was lost, and the grant was reclaimed or released by force before the library
     *     found it; a request with an external id gets a {@link RequestAlreadyReleasedException} instead
     * @throws AcquireInterruptedException if the thread is interrupted
     * @throws AcquireOutcomeUnknownException if the database did not answer the commit of the grant before the deadline
     * @throws SemaphoreClosedException if this application instance is stopped or shutting down
     * @throws IllegalArgumentException if the request exceeds a configured limit
     * @throws org.springframework.transaction.IllegalTransactionStateException if a transaction is open on this thread
     *     and {@code semaphore.host-transaction} is {@code refuse}
     */
    PermitGrant acquire(AcquireRequest request);

    /**
     * Acquires as {@link #acquire} does, but returns an empty value instead of throwing
     * {@link PermitsUnavailableException}.
     *
     * @param request the permits to acquire, for how long, and how long to wait
     * @return the grant; empty if the permits did not become available within the wait time
     * @throws PermitsExceedCapacityException if more permits are requested than the capacity of a semaphore
     * @throws AcquireOutcomeUnknownException if the database did not answer the commit of the grant before the deadline
     * @see #acquire(AcquireRequest) acquire, for the other exceptions
     */
    Optional<PermitGrant> tryAcquire(AcquireRequest request);

    /**
     * Acquires as {@link #acquire} does, without blocking a thread, however many acquires wait.
     *
     * <p><b>Threads.</b> The future is completed on a thread of the library ({@code semaphore-application-N}), without the thread-locals of
     * the caller. Dependent actions may block that thread. While 64 or more do, other futures are completed some tenths of a second later,
     * and a warning says where one of the actions blocks. Run long work with {@code thenAcceptAsync} on an executor of your own. If a
     * permit is reused, the returned future is already complete, and an action that is added to it runs on the thread that adds the action.
     *
     * <p><b>Cancellation.</b> If the application completes the future, for example with {@code cancel} or {@code orTimeout}, the acquire
     * ends: it leaves the queue at once, and a grant that arrives nevertheless is released, unless another caller has received it under the
     * same external id. If two callers with the same external id complete their futures at the same time, the grant stays held until its
     * time to live has passed.
     *
     * <p><b>Position.</b> While the caller waits, the future says {@linkplain AcquireFuture#positions where it stands}. If a bean of the
     * application replaces the future of the {@code PermitManager}, no position is known.
     *
     * @param request the permits to acquire, for how long, and how long to wait
     * @return a future of the grant; it fails with the exceptions of {@link #acquire}, except for those below
     * @throws SemaphoreClosedException if this application instance is stopped or shutting down
     * @throws IllegalArgumentException if the request exceeds a configured limit
     * @throws org.springframework.transaction.IllegalTransactionStateException if a transaction is open on this thread
     *     and {@code semaphore.host-transaction} is {@code refuse}
     */
    AcquireFuture acquireAsync(AcquireRequest request);

    /**
     * Acquires, runs the work on the calling thread, and releases, whether or not the work succeeds.
     *
     * <p>The grant is kept alive while the work runs, unless the request says otherwise. A failure of the release does
     * not change the outcome of the work: it is logged, and the release is repeated in the background.
     *
     * @param <T> the type of the result
     * @param <X> the exception that the work declares
     * @param request the permits to acquire, for how long, and how long to wait
     * @param work the work
     * @return the result of the work
     * @throws X if the work fails
     * @throws RequestInProgressException if the external id is already held and the request does not
     *     {@linkplain AcquireRequest#withAdopt adopt} it
     * @see #acquire(AcquireRequest) acquire, for the exceptions of the acquire
     */
    <T extends @Nullable Object, X extends Throwable> T execute(AcquireRequest request, PermitCallback<T, X> work)
            throws X;

    /**
     * Runs work without a result, otherwise like {@link #execute}.
     *
     * @param <X> the exception that the work declares
     * @param request the permits to acquire, for how long, and how long to wait
     * @param work the work
     * @throws X if the work fails
     * @throws RequestInProgressException if the external id is already held and the request does not
     *     {@linkplain AcquireRequest#withAdopt adopt} it
     * @see #acquire(AcquireRequest) acquire, for the exceptions of the acquire
     */
    <X extends Throwable> void executeWithoutResult(AcquireRequest request, PermitAction<X> work) throws X;

    /**
     * Runs work under one permit of one semaphore, otherwise like {@link #execute(AcquireRequest, PermitCallback)}. Waits for the permit
     * only if a wait time is configured for the semaphore.
     *
     * @param <T> the type of the result
     * @param name the semaphore
     * @param work the work
     * @return the result of the work
     * @throws IllegalArgumentException if the name is invalid
     * @see #acquire(AcquireRequest) acquire, for the exceptions of the acquire
     */
    default <T extends @Nullable Object> T execute(String name, Supplier<T> work) {
        return execute(AcquireRequest.of(name), grant -> work.get());
    }

    /**
     * Runs work without a result, otherwise like {@link #execute(String, Supplier)}.
     *
     * @param name the semaphore
     * @param work the work
     * @throws IllegalArgumentException if the name is invalid
     * @see #acquire(AcquireRequest) acquire, for the exceptions of the acquire
     */
    default void run(String name, Runnable work) {
        executeWithoutResult(AcquireRequest.of(name), grant -> work.run());
    }

    /**
     * Releases all permits of the grant with this external id, whichever thread, process or machine acquired it.
     * Repeating a release is harmless. Returns after the commit, except if the result is {@link ReleaseOutcome#DEFERRED}. An interrupt does
     * not abort the release; the interrupt flag is preserved.
     *
     * <p>Waits up to {@code semaphore.jdbc.lock-wait-timeout} (5 seconds) for a transaction that has locked the grant, for
     * example one that has checked it with {@link #requireHeld}. If the release fails, or the grant is locked for longer, the library
     * repeats the release in the background, as for {@link PermitGrant#release}.
     *
     * @param externalId the external id of the grant
     * @return the outcome of the release
     * @throws org.springframework.dao.DataAccessException if the grant could not be looked up; nothing was released
     * @throws IllegalArgumentException if the external id is invalid
     */
    ReleaseOutcome release(String externalId);

    /**
     * Returns the grant that is held under an external id, whichever process acquired it. Reads from the database and
     * changes nothing.
     *
     * @param externalId the external id of the grant
     * @return the grant, {@linkplain PermitGrant#isReplayed replayed} unless it is a use of a reused permit; empty if nothing is held
     *     under this id
     * @throws IllegalArgumentException if the external id is invalid
     */
    Optional<PermitGrant> find(String externalId);

    /**
     * Sets the expiry of a held grant to the current time of the database plus {@code ttl}, which may be sooner or
     * later than before.
     *
     * @param externalId the external id of the grant
     * @param ttl the new time to live, between {@link AcquireRequest#MIN_TTL} and {@code semaphore.max-ttl}
     * @return the renewed grant
     * @throws PermitLostException if the grant is no longer held: it was released, has expired, or is unknown
     * @throws IllegalArgumentException if the external id is invalid or the time to live is out of bounds
     */
    PermitGrant renew(String externalId, Duration ttl);

    /**
     * Ensures that the caller's transaction cannot commit unless the permits are held. Checks in that transaction that they are held, and
     * locks them: until the transaction ends, nothing else can release or reclaim them.
     *
     * <p>Runs on the calling thread, on the connection and in the transaction of the caller, which must be writable and
     * use the same {@code DataSource} as the semaphores. On Galera and Group Replication, servers do not see each other's row locks:
     * there the later of two conflicting commits fails, which may be the caller's.
     *
     * <p>After Spring has rolled back to a savepoint, as it does for a nested transaction, the commit checks once more, and fails with a
     * {@link PermitLostException} if the grant is lost. A rollback to a savepoint by JDBC or SQL goes unnoticed: call this method again
     * after it. In a JTA transaction, execute a statement on the {@code DataSource} first; its pool must lend connections with auto-commit
     * on.
     *
     * @param grant the grant to check
     * @throws PermitLostException if the grant is no longer held; the caller's transaction must not commit
     * @throws org.springframework.dao.ConcurrencyFailureException if another transaction was in conflict, for example one that is releasing
     *     the permits, or if the database detected a deadlock; the caller may repeat its whole transaction
     * @throws org.springframework.transaction.IllegalTransactionStateException if no transaction is open, or if the transaction was routed
     *     to another database or a read-only server, where the grant cannot be checked
     */
    void requireHeld(PermitGrant grant);
}
