package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.engine.batch.Acquire;
import io.dbsemaphore.engine.batch.GroupCommit;
import io.dbsemaphore.engine.hold.GrantHandle;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.hold.HeldGrant;
import io.dbsemaphore.engine.hold.InstanceLease;
import io.dbsemaphore.engine.hold.KeepAlive;
import io.dbsemaphore.engine.quota.Quota.Chunk;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.CallerExceptions;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.persistence.unit.TransactionFailures;
import io.dbsemaphore.spi.PermitManager.AcquireResult;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Executor;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires permits, for a calling thread that waits for the result, or without a thread that waits: submits the acquire, makes missing
 * semaphores of a pattern, and makes the caller's result from the decision of the database.
 *
 * <p>An acquire that fails holds nothing. The outcome of a commit without an answer is determined by the next attempt, which waits for the
 * locks of the lost transaction, and then reads whether the request exists. If no attempt gets that far, the acquire is undone.
 */
final class AcquireService {

    private static final Logger log = LoggerFactory.getLogger(AcquireService.class);

    private final GroupCommit commit;
    private final PatternSemaphoreCreator patterns;
    private final AcquireFactory acquireFactory;
    private final Quotas quotas;
    private final ReleaseService releases;
    private final BackgroundReleaser background;
    private final Duration decisionTimeout;
    private final GrantRegistry held;
    private final KeepAlive keepAlive;
    private final InstanceLease lease;
    private final ListenerNotifier listeners;
    private final GrantHandle.Operations operations;
    private final Executor completions;
    /** One permit for each acquire in progress, which may end on another thread than it began on; none is left once all have ended. */
    private final Semaphore inProgress = new Semaphore(Integer.MAX_VALUE);
    /** Without it, callers that go on asking could keep the last permit for ever. */
    private volatile boolean closed;

    /**
     * Acquires for the callers of one run.
     *
     * @param decisionTimeout how long a caller waits for the database after its wait time has ended
     * @param operations to which the handles of the grants delegate
     * @param completions its threads may be blocked by code of the application
     */
    AcquireService(
            GroupCommit commit,
            PatternSemaphoreCreator patterns,
            AcquireFactory acquireFactory,
            Quotas quotas,
            ReleaseService releases,
            BackgroundReleaser background,
            Duration decisionTimeout,
            GrantRegistry held,
            KeepAlive keepAlive,
            InstanceLease lease,
            ListenerNotifier listeners,
            GrantHandle.Operations operations,
            Executor completions) {
        this.commit = commit;
        this.patterns = patterns;
        this.acquireFactory = acquireFactory;
        this.quotas = quotas;
        this.releases = releases;
        this.background = background;
        this.decisionTimeout = decisionTimeout;
        this.held = held;
        this.keepAlive = keepAlive;
        this.lease = lease;
        this.listeners = listeners;
        this.operations = operations;
        this.completions = completions;
    }

    /**
     * Acquires permits as soon as they are available within the wait time. Missing semaphores that match a pattern are created
     * first.
     *
     * @throws io.dbsemaphore.SemaphoreClosedException when closed
     * @throws io.dbsemaphore.AcquireInterruptedException when interrupted before the acquire was decided; nothing is held
     * @throws RuntimeException when the acquire failed; nothing is held, unless this is an
     *     {@link io.dbsemaphore.AcquireOutcomeUnknownException}
     */
    AcquireResult acquire(Acquire first) {
        enter();
        Acquire acquire = first;
        try {
            quotas.prepare(acquire);
            Acquire.Answer answer = commit.acquire(acquire);
            int repeated = 0;
            CompletableFuture<?> retry = retryAfter(acquire, answer, repeated);
            while (retry != null) {
                await(retry);
                acquire = acquire.again();
                answer = commit.acquire(acquire);
                retry = retryAfter(acquire, answer, ++repeated);
            }
            return resultOf(acquire, answer);
        } catch (RuntimeException | Error failure) {
            throw resolve(acquire, failure);
        } finally {
            inProgress.release();
        }
    }

    private void enter() {
        if (closed || !inProgress.tryAcquire()) {
            throw new SemaphoreClosedException();
        }
    }

    /**
     * Waits until no acquire is in progress; then none begins any more. Returns false if the timeout passed before. To be called when
     * the queue is closed, which ends those that begin meanwhile.
     */
    boolean awaitNone(Duration timeout) throws InterruptedException {
        closed = true;
        return inProgress.tryAcquire(Integer.MAX_VALUE) // also if the thread is interrupted
                || inProgress.tryAcquire(Integer.MAX_VALUE, timeout.toNanos(), TimeUnit.NANOSECONDS);
    }

    /**
     * What an acquire is tried again after: missing semaphores are created, or permits go back.
     *
     * @param repeated how often it was tried again before
     * @return null if the answer is final
     */
    private @Nullable CompletableFuture<?> retryAfter(Acquire acquire, Acquire.Answer answer, int repeated) {
        CompletableFuture<?> returned = quotas.retryAfter(acquire, answer, repeated);
        return returned != null || repeated >= PatternSemaphoreCreator.MAX_REPEATED
                ? returned
                : patterns.createMissing(answer);
    }

    private static void await(CompletableFuture<?> retry) {
        try {
            @Nullable Object unused = Uninterruptibles.get(retry);
        } catch (ExecutionException failure) {
            throw CallerExceptions.of(failure.getCause());
        }
    }

    /**
     * As {@link #acquire}. The caller may complete or cancel the future at any time: a waiting acquire is removed from the queue,
     * and one that is granted nevertheless is released.
     *
     * @return a future that is completed on a thread that code of the application may block
     * @throws io.dbsemaphore.SemaphoreClosedException when closed
     */
    CompletableFuture<AcquireResult> acquireAsync(Acquire acquire) {
        enter();
        AsyncAcquire async = new AsyncAcquire(acquire);
        async.begin();
        return async.result;
    }

    /** Runs a completion here if the engine has stopped meanwhile: without it the acquire would never end. */
    private void complete(Runnable completion) {
        try {
            completions.execute(completion);
        } catch (RejectedExecutionException stopped) {
            completion.run();
        }
    }

    /** One acquire in progress for which no thread waits. */
    private final class AsyncAcquire {

        private final CompletableFuture<AcquireResult> result = new CompletableFuture<>();
        private Acquire acquire;
        private int repeated;

        AsyncAcquire(Acquire acquire) {
            this.acquire = acquire;
        }

        void begin() {
            try {
                quotas.prepare(acquire);
                submit();
            } catch (RuntimeException | Error failure) {
                fail(failure);
            }
        }

        private void submit() {
            try {
                Acquire submitted = acquire;
                commit.submit(submitted);
                CompletableFuture<?> unused =
                        submitted.answer().whenCompleteAsync(this::decided, AcquireService.this::complete);
                // no effect once the acquire is answered, for example if that answer completes the result
                CompletableFuture<?> unusedToo = result.whenComplete((ended, failure) -> commit.withdraw(submitted));
            } catch (RuntimeException | Error failure) {
                fail(failure);
            }
        }

        private void submitAgain() {
            acquire = acquire.again();
            submit();
        }

        private void decided(Acquire.@Nullable Answer answer, @Nullable Throwable failure) {
            AcquireResult outcome;
            try {
                if (answer == null) {
                    throw resolve(acquire, CallerExceptions.of(cause(failure)));
                }
                CompletableFuture<?> retry = result.isDone() ? null : retryAfter(acquire, answer, repeated++);
                if (retry != null) {
                    CompletableFuture<?> unused =
                            retry.whenCompleteAsync(this::tryAgain, AcquireService.this::complete);
                    return;
                }
                outcome = resultOf(acquire, answer);
            } catch (RuntimeException | Error failed) {
                fail(failed);
                return;
            }
            end(outcome);
        }

        private void tryAgain(@Nullable Object none, @Nullable Throwable failure) {
            if (failure == null) {
                submitAgain();
            } else {
                fail(CallerExceptions.of(cause(failure)));
            }
        }

        /** No longer in progress first: the application's code runs where the result is completed, and a stop need not wait for it. */
        private void end(AcquireResult outcome) {
            inProgress.release();
            if (!result.complete(outcome) && outcome instanceof AcquireResult.Granted unwanted) {
                try {
                    unwanted.grant().release();
                } catch (RuntimeException failure) {
                    log.debug("{} is released in the background", unwanted.grant(), failure);
                }
            }
        }

        private void fail(Throwable failure) {
            inProgress.release();
            boolean unused = result.completeExceptionally(failure);
        }

        private static @Nullable Throwable cause(@Nullable Throwable failure) {
            return failure instanceof CompletionException ? failure.getCause() : failure;
        }
    }

    /**
     * The result of an acquire.
     *
     * @throws io.dbsemaphore.SemaphoreException when the acquire was rejected
     */
    private AcquireResult resultOf(Acquire acquire, Acquire.Answer answer) {
        GrantOutcome outcome = answer.outcome();
        Duration waited = Duration.ofNanos(System.nanoTime() - acquire.call().startedAt());
        if (outcome instanceof GrantOutcome.Granted granted) {
            PermitGrant handle = holdOrGiveBack(acquire, granted, answer);
            boolean refusedAtFirst = acquire.wasRefused();
            listeners.tell(
                    listener -> listener.acquired(new SemaphoreListener.Acquired(handle, waited, refusedAtFirst)));
            return new AcquireResult.Granted(handle);
        }
        if (outcome instanceof GrantOutcome.Refused refused) {
            AcquireResult reused = quotas.refused(acquire, refused.shortages());
            if (reused != null) {
                return reused;
            }
            listeners.tell(listener -> listener.refused(
                    new SemaphoreListener.Refused(acquire.call().request(), refused.shortages(), waited)));
            return new AcquireResult.Unavailable(
                    refused.shortages(), acquire.call().waitTime());
        }
        if (outcome instanceof GrantOutcome.Rejected rejected) {
            throw CallerExceptions.of(patterns.explain(rejected.reason()));
        }
        throw new IllegalStateException(
                "Nothing was decided about " + acquire.command().externalId() + ": " + outcome);
    }

    /** Releases the grant if an error occurs here, since an acquire that throws must hold nothing. */
    private PermitGrant holdOrGiveBack(Acquire acquire, GrantOutcome.Granted granted, Acquire.Answer answer) {
        try {
            return hold(acquire, granted, answer);
        } catch (RuntimeException | Error failure) {
            if (!granted.replayed()) {
                releases.giveBack(granted.grant());
            }
            throw failure;
        }
    }

    private PermitGrant hold(Acquire acquire, GrantOutcome.Granted granted, Acquire.Answer answer) {
        Optional<PermitGrant> handedOver = quotas.beginHandedOver(acquire, granted);
        return handedOver.isPresent() ? handedOver.get() : holdGranted(acquire, granted, answer);
    }

    private PermitGrant holdGranted(Acquire acquire, GrantOutcome.Granted granted, Acquire.Answer answer) {
        HeldGrant state = held.register(granted.grant(), answer.asOf());
        ReuseTerms terms = acquire.reuseTerms();
        if (acquire.call().forWork() || acquire.command().isKeptAlive()) {
            state.setForWork(true);
        }
        state.setOutlivesShutdown(!acquire.call().request().isReleaseAtShutdown());
        state.setAcquiredAt(terms == null ? acquire.call().stack() : null); // a reused permit is acquired by many
        if (terms != null) {
            Chunk chunk = quotas.granted(terms, acquire, state, answer.asOf());
            PermitGrant firstUse = quotas.beginUse(chunk);
            keepAlive(state, chunk::user, terms.maxHold().plus(chunk.quota().lifeOf(terms)), answer);
            return firstUse;
        }
        PermitGrant grant = new GrantHandle(state, granted.replayed(), operations);
        if (acquire.command().isKeptAlive()) {
            keepAlive(state, () -> grant, acquireFactory.maxHold(acquire.call().request()), answer);
        } else {
            keepAlive.watch(state, grant); // unless an earlier acquire keeps it alive
        }
        return grant;
    }

    private void keepAlive(
            HeldGrant state, Supplier<? extends @Nullable PermitGrant> user, Duration maxHold, Acquire.Answer answer) {
        state.bindTo(lease, answer.epoch());
        keepAlive.keep(state, user, Deadline.after(answer.asOf(), maxHold));
        keepAlive.confirm(state);
    }

    /**
     * Ensures that a failed acquire holds nothing. Waits for the database until the decision timeout.
     *
     * @return the exception to be thrown to the caller
     * @throws Error the failure, if it is an error
     */
    private RuntimeException resolve(Acquire acquire, Throwable failure) {
        if (failure instanceof AcquireOutcomeUnknownException unknown) {
            return unknown; // undone in the background
        }
        if (acquire.isOutcomeUnknown()) {
            undo(acquire, failure);
        }
        if (failure instanceof Error error) {
            throw error;
        }
        return Thread.currentThread().isInterrupted() && TransactionFailures.isWorthRepeating(failure)
                ? interrupted(acquire, failure)
                : (RuntimeException) failure;
    }

    /** The exception for an acquire that was not tried again, since the pause before the next attempt was interrupted. */
    private static AcquireInterruptedException interrupted(Acquire acquire, Throwable failure) {
        AcquireInterruptedException interrupted =
                new AcquireInterruptedException(acquire.command().permits().keySet());
        interrupted.addSuppressed(failure);
        return interrupted;
    }

    private void undo(Acquire acquire, Throwable failure) {
        if (acquire.hasWaitTime()
                && acquire.callDeadline().isPassed()) { // the database did not answer within the wait time
            background.undo(acquire);
            throw new AcquireOutcomeUnknownException(acquire.command().externalId(), failure);
        }
        // on a thread of the library, since the pool may have no connection for longer than the caller waits
        CompletableFuture<?> undone = background.undoNow(acquire);
        Semaphore ended = new Semaphore(0);
        CompletableFuture<?> unused = undone.whenComplete((result, undoFailure) -> ended.release());
        Deadline until = Deadline.after(acquire.callDeadline().nanos(), decisionTimeout);
        if (!Uninterruptibles.acquire(ended, until.remainingNanos()) || undone.isCompletedExceptionally()) {
            throw new AcquireOutcomeUnknownException(acquire.command().externalId(), failure);
        }
    }
}
