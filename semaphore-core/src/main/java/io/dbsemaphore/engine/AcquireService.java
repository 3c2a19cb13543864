package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.QueuePosition;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.concurrent.LimitedExecutor;
import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.engine.batch.Acquire;
import io.dbsemaphore.engine.batch.BackgroundReleaser;
import io.dbsemaphore.engine.batch.GroupCommit;
import io.dbsemaphore.engine.hold.GrantHandle;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.hold.HeldGrant;
import io.dbsemaphore.engine.hold.KeepAlive;
import io.dbsemaphore.engine.quota.Quota.Chunk;
import io.dbsemaphore.engine.quota.Quotas;
import io.dbsemaphore.engine.quota.ReusedGrant;
import io.dbsemaphore.persistence.unit.TransactionFailures;
import io.dbsemaphore.spi.PermitManager.AcquireResult;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.BlockingQueue;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Function;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Acquires permits, with or without a waiting thread: submits the acquire, creates missing semaphores of a pattern, and makes the caller's
 * result from the decision of the database.
 *
 * <p>An acquire that fails holds nothing. After a commit without an answer, the next attempt finds the outcome: it waits for the locks of
 * the lost transaction, and then reads whether the request exists. If no attempt gets that far, the acquire is undone.
 *
 * <p>{@code LateCommitIntegrationTests} and {@code InterruptIntegrationTests} test it.
 */
final class AcquireService {

    private static final Logger log = LoggerFactory.getLogger(AcquireService.class);

    /**
     * How often an acquire is tried again: other instances may repeatedly delete the semaphores that it has created, and other callers of
     * this JVM may take the idle permits that it has returned.
     */
    private static final int MAX_REPEATED = 100;

    /**
     * The maximum number of concurrent completions of asynchronous acquires, unless they block. The library's own steps have the same
     * limit.
     */
    private static final int MAX_COMPLETIONS = 64;

    private final Collaborators with;
    /** Runs the library's steps between an answer and the result. Separate, so that grants are kept alive before completions wait. */
    private final Executor asynchronousSteps;

    private final LimitedExecutor completions;
    private final WaitReports reports;
    /** Has one permit fewer for each acquire in progress. */
    private final Semaphore inProgress = new Semaphore(Integer.MAX_VALUE);
    /** Refuses further acquires, so that {@link #awaitNone} ends even if callers go on acquiring. */
    private volatile boolean closed;

    /**
     * The collaborators of the service.
     *
     * @param decisionTimeout how long a caller waits for a decision beyond its wait time
     * @param weights the weights of shares
     * @param operations the operations to which handles delegate
     * @param scheduler waits for deadlines; never blocks
     * @param applicationThreads run code of the application
     */
    record Collaborators(
            Duration decisionTimeout,
            AcquireFactory factory,
            Weights weights,
            GroupCommit commit,
            BackgroundReleaser background,
            GrantRegistry held,
            KeepAlive keepAlive,
            Quotas quotas,
            PatternSemaphoreCreator patterns,
            ReleaseService releases,
            ListenerNotifier listeners,
            GrantHandle.Operations operations,
            ScheduledExecutorService scheduler,
            Executor applicationThreads) {

        private LimitedExecutor completing(String tasks) {
            return new LimitedExecutor(applicationThreads, MAX_COMPLETIONS, tasks, this::runLater);
        }

        private void runLater(Runnable task) {
            try {
                var unused = scheduler.schedule(task, LimitedExecutor.PATIENCE.toMillis(), TimeUnit.MILLISECONDS);
            } catch (RejectedExecutionException ended) {
                log.debug("The run has ended: tasks wait for those that block", ended);
            }
        }
    }

    AcquireService(Collaborators with) {
        this.with = with;
        asynchronousSteps = with.completing("listeners of asynchronous acquires");
        completions = with.completing("dependent actions of asynchronous acquires");
        reports = new WaitReports(with.scheduler(), with.completing("wait listeners"));
    }

    /**
     * Begins a use of an idle permit of this JVM, or acquires permits from the database.
     *
     * @param forWork whether this JVM is about to do work under the grant, which is then kept alive by default
     * @throws RuntimeException as {@link #acquire(Acquire)}
     */
    AcquireResult acquire(AcquireRequest requested, boolean forWork) {
        AcquireRequest request = with.factory().withDefaults(requested);
        AcquireResult reused = takeIdle(request, forWork);
        return reused != null ? reused : acquire(with.factory().begin(request, forWork));
    }

    /**
     * Acquires like {@link #acquire}, without a waiting thread. The caller may complete or cancel the future at any time: a waiting
     * acquire then leaves the queue, and a grant that arrives nevertheless is released.
     *
     * @return a future, completed on a thread that code of the application may block
     * @throws io.dbsemaphore.SemaphoreClosedException after the end
     */
    CompletableFuture<AcquireResult> acquireAsync(AcquireRequest requested) {
        AcquireRequest request = with.factory().withDefaults(requested);
        AcquireResult reused = takeIdle(request, false);
        return reused != null
                ? CompletableFuture.completedFuture(reused)
                : begin(with.factory().begin(request, false), asynchronousSteps, completions).result;
    }

    /** Begins a use of an idle permit of this JVM; null if there is none for this request, which then needs a transaction. */
    private @Nullable AcquireResult takeIdle(AcquireRequest request, boolean forWork) {
        if (with.quotas().areDisabled() || Thread.currentThread().isInterrupted()) {
            return null;
        }
        with.factory().checkHostTransaction(request);
        long startedAt = System.nanoTime();
        boolean keptAlive = request.keepAlive().orElse(forWork);
        ReusedGrant use = with.quotas().take(with.factory().reuseTerms(request, keptAlive));
        return use == null ? null : acquired(use, since(startedAt), false);
    }

    /**
     * Acquires permits as soon as they are available, within the wait time. Missing semaphores that match a pattern are created first. The
     * calling thread makes the result, and notifies the listeners.
     *
     * @throws io.dbsemaphore.SemaphoreClosedException after the end
     * @throws io.dbsemaphore.AcquireInterruptedException if interrupted before the acquire was decided; nothing is held
     * @throws RuntimeException if the acquire failed; nothing is held, unless this is an
     *     {@link io.dbsemaphore.AcquireOutcomeUnknownException}
     */
    private AcquireResult acquire(Acquire acquire) {
        if (Thread.currentThread().isInterrupted()) {
            throw new AcquireInterruptedException(acquire.command().permits().keySet());
        }
        BlockingQueue<Runnable> steps = new LinkedBlockingQueue<>();
        InProgress begun = begin(acquire, steps::add, Runnable::run);
        while (!begun.result.isDone()) {
            next(steps, begun).run();
        }
        try {
            return begun.result.join();
        } catch (CompletionException failure) {
            if (failure.getCause() instanceof Error error) {
                throw error;
            }
            throw (RuntimeException) failure.getCause();
        }
    }

    /** Waits for the next step of the calling thread. An interrupt ends the acquire, unless a grant is being written for it. */
    private Runnable next(BlockingQueue<Runnable> steps, InProgress begun) {
        boolean interrupted = false;
        try {
            while (true) {
                try {
                    return steps.take();
                } catch (InterruptedException interrupt) {
                    interrupted = true;
                    begun.left.complete(true);
                    with.commit().cancel(begun.acquire);
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    private InProgress begin(Acquire acquire, Executor steps, Executor delivery) {
        with.weights().refresh(acquire.call().request());
        if (closed || !inProgress.tryAcquire()) {
            throw new SemaphoreClosedException();
        }
        InProgress begun = new InProgress(acquire, steps, delivery);
        acquire.call()
                .request()
                .waitListener()
                .ifPresent(listener -> reports.begin(listener, begun.result, begun.result));
        begun.begin();
        return begun;
    }

    /**
     * Refuses further acquires, and waits until none is in progress. Returns false if the timeout passes first. To be called after the
     * queue is closed, which ends acquires that still begin.
     */
    boolean awaitNone(Duration timeout) throws InterruptedException {
        closed = true;
        return inProgress.tryAcquire(Integer.MAX_VALUE) // succeeds even if the thread is interrupted
                || inProgress.tryAcquire(Integer.MAX_VALUE, timeout.toNanos(), TimeUnit.NANOSECONDS);
    }

    /**
     * Prepares another attempt of an acquire: creates missing semaphores, or returns idle permits to the database.
     *
     * @param repeated how often it was already tried again
     * @return null if the answer is final
     */
    private @Nullable CompletableFuture<?> retryAfter(Acquire acquire, Acquire.Answer answer, int repeated) {
        if (answer.outcome() instanceof GrantOutcome.Granted || repeated >= MAX_REPEATED) {
            return null;
        }
        return answer.outcome() instanceof GrantOutcome.Refused refused
                ? with.quotas().retryAfter(acquire, refused.shortages(), answer.asOf())
                : with.patterns().createMissing(acquire, answer);
    }

    /** Delivers the results that wait for blocking actions of the application. */
    void deliverAll() {
        completions.relieve(Duration.ZERO);
    }

    /** The result, which says where the caller stands until it is complete. */
    private final class Result extends CompletableFuture<AcquireResult> implements QueuePosition.Source {

        /** The attempt in progress; null when the result is complete. */
        private volatile @Nullable Acquire acquire;

        @Override
        public List<QueuePosition> positions() {
            Acquire current = acquire;
            return current == null || isDone() ? List.of() : with.commit().positions(current);
        }
    }

    /** One acquire in progress: attempt after attempt of the same call, until an answer is final. */
    private final class InProgress {

        private final Result result = new Result();
        private final Executor steps;
        private final Executor delivery;
        /** Completed when the caller has left, or no longer waits for the preparation of another attempt. */
        private final CompletableFuture<Object> left = new CompletableFuture<>();

        private Acquire acquire;
        private int repeated;

        /**
         * Prepares the first attempt.
         *
         * @param steps runs the steps after an answer
         * @param delivery completes the result, which may run code of the application
         */
        InProgress(Acquire first, Executor steps, Executor delivery) {
            this.acquire = first;
            this.steps = steps;
            this.delivery = delivery;
        }

        void begin() {
            var unused = CompletableFuture.completedFuture(acquire)
                    .thenCompose(first -> {
                        ReuseTerms terms = with.factory()
                                .reuseTerms(
                                        first.call().request(), first.command().isKeptAlive());
                        with.quotas().prepare(first, terms);
                        return attempt(first);
                    })
                    .exceptionally(failure -> {
                        throw resolve(acquire, cause(failure));
                    })
                    .whenComplete(this::end);
        }

        @SuppressWarnings("FutureReturnValueIgnored") // the nested future is composed
        private CompletableFuture<AcquireResult> attempt(Acquire next) {
            acquire = next;
            result.acquire = next;
            with.commit().submit(next);
            // no effect once the acquire is answered, for example if that answer completes the result
            var unused = result.whenComplete((ended, failure) -> with.commit().cancel(next));
            return next.answer().handleAsync(this::decided, steps).thenCompose(Function.identity());
        }

        @SuppressWarnings("FutureReturnValueIgnored") // the nested future is composed
        private CompletableFuture<AcquireResult> decided(Acquire.@Nullable Answer answer, @Nullable Throwable failure) {
            if (answer == null) {
                throw CallerExceptions.of(failure);
            }
            if (result.isDone()
                    && acquire.command().externalIdGiven()
                    && answer.outcome() instanceof GrantOutcome.Granted granted) {
                // this also unbinds a replayed grant, unless another caller of this JVM has it kept alive
                if (!granted.replayed()
                        || !with.keepAlive().keeps(granted.grant().requestId())) {
                    var unused = with.background().undo(acquire);
                }
                throw new CancellationException();
            }
            if (answer.outcome() instanceof GrantOutcome.HandedOver handedOver) {
                ReusedGrant use = with.quotas().takeHandedOver(handedOver);
                return use == null ? attempt(acquire.again()) : CompletableFuture.completedFuture(acquired(use));
            }
            // a permit may have become idle while the database refused the acquire
            ReusedGrant idle = answer.outcome() instanceof GrantOutcome.Refused
                    ? with.quotas().take(acquire.reuseTerms())
                    : null;
            if (idle != null) {
                return CompletableFuture.completedFuture(acquired(idle));
            }
            CompletableFuture<?> retry = result.isDone() ? null : retryAfter(acquire, answer, repeated++);
            return retry == null
                    ? CompletableFuture.completedFuture(resultOf(acquire, answer))
                    : inTime(retry).handleAsync(this::tryAgain, steps).thenCompose(Function.identity());
        }

        private AcquireResult acquired(ReusedGrant use) {
            return AcquireService.this.acquired(use, since(acquire.call().startedAt()), acquire.hasWaited());
        }

        private CompletableFuture<?> inTime(CompletableFuture<?> retry) {
            Deadline decided = acquire.callDeadline().plus(with.decisionTimeout());
            ScheduledFuture<?> timeout = with.scheduler()
                    .schedule(() -> left.complete(true), decided.remainingNanos(), TimeUnit.NANOSECONDS);
            return CompletableFuture.anyOf(retry, left).whenComplete((none, failure) -> timeout.cancel(false));
        }

        /** Tries again, even if the time is over: the acquire is then cancelled at once, which gives it the right answer. */
        private CompletableFuture<AcquireResult> tryAgain(@Nullable Object none, @Nullable Throwable failure) {
            if (failure != null) {
                throw CallerExceptions.of(cause(failure));
            }
            return attempt(acquire.again());
        }

        /** Ends the acquire before the delivery, which may run code of the application: a stop need not wait for that. */
        private void end(AcquireResult outcome, @Nullable Throwable failure) {
            inProgress.release();
            result.acquire = null;
            if (outcome instanceof AcquireResult.Granted granted) { // the caller may leave before the delivery
                var unused = result.whenComplete((delivered, none) -> {
                    if (!granted.equals(delivered)) {
                        steps.execute(() -> leave(granted.grant()));
                    }
                });
            }
            delivery.execute(() -> {
                boolean unused =
                        failure == null ? result.complete(outcome) : result.completeExceptionally(cause(failure));
            });
        }

        private void leave(PermitGrant grant) {
            if (acquire.command().externalIdGiven() && grant instanceof GrantHandle handle) {
                with.releases().leave(acquire, handle);
                return;
            }
            grant.close();
        }

        private static Throwable cause(Throwable failure) {
            return failure instanceof CompletionException && failure.getCause() != null ? failure.getCause() : failure;
        }
    }

    /**
     * The result of an acquire.
     *
     * @throws io.dbsemaphore.SemaphoreException if the acquire was rejected
     */
    private AcquireResult resultOf(Acquire acquire, Acquire.Answer answer) {
        GrantOutcome outcome = answer.outcome();
        Duration waited = since(acquire.call().startedAt());
        if (outcome instanceof GrantOutcome.Granted granted) {
            PermitGrant handle = holdOrGiveBack(acquire, granted, answer);
            return acquired(handle, waited, acquire.hasWaited());
        }
        if (outcome instanceof GrantOutcome.Refused refused) {
            with.quotas().refused(refused.shortages());
            with.listeners()
                    .tell(listener -> listener.refused(
                            new SemaphoreListener.Refused(acquire.call().request(), refused.shortages(), waited)));
            return new AcquireResult.Unavailable(
                    refused.shortages(), acquire.call().waitTime());
        }
        if (outcome instanceof GrantOutcome.Rejected rejected) {
            throw CallerExceptions.of(with.patterns().explain(rejected.reason()));
        }
        throw new IllegalStateException(
                "Nothing was decided about " + acquire.command().externalId() + ": " + outcome);
    }

    private AcquireResult acquired(PermitGrant grant, Duration waited, boolean refusedAtFirst) {
        with.listeners()
                .tell(listener -> listener.acquired(new SemaphoreListener.Acquired(grant, waited, refusedAtFirst)));
        return new AcquireResult.Granted(grant);
    }

    private static Duration since(long nanos) {
        return Duration.ofNanos(System.nanoTime() - nanos);
    }

    /** Takes over a grant. If that fails, releases it, because an acquire that throws must hold nothing. */
    private PermitGrant holdOrGiveBack(Acquire acquire, GrantOutcome.Granted granted, Acquire.Answer answer) {
        try {
            return hold(acquire, granted, answer);
        } catch (RuntimeException | Error failure) {
            if (!granted.replayed()) {
                with.releases().giveBack(with.held().read(granted.grant(), answer.asOf()));
            }
            throw failure;
        }
    }

    private PermitGrant hold(Acquire acquire, GrantOutcome.Granted granted, Acquire.Answer answer) {
        HeldGrant state = with.held().register(granted.grant(), answer.asOf());
        ReuseTerms terms = acquire.reuseTerms();
        if (acquire.call().forWork() || acquire.command().isKeptAlive()) {
            state.setForWork(true);
        }
        state.acquired(
                !acquire.call().request().isReleaseAtShutdown(),
                terms == null ? acquire.call().stack() : null); // a reused permit has many callers
        if (terms != null) {
            Chunk chunk = with.quotas().granted(terms, acquire, state, answer.asOf());
            PermitGrant firstUse = new ReusedGrant(chunk, with.operations());
            keepAlive(
                    acquire,
                    state,
                    chunk::user,
                    terms.maxHold().plus(chunk.quota().lifeOf(terms)),
                    answer);
            return firstUse;
        }
        GrantHandle grant = new GrantHandle(state, granted.replayed(), with.operations());
        if (acquire.command().isKeptAlive()) {
            keepAlive(
                    acquire,
                    state,
                    () -> grant,
                    with.factory().maxHold(acquire.call().request()),
                    answer);
        } else {
            if (!with.keepAlive().keeps(granted.grant().requestId())) {
                state.unbind(); // as in the database, although an earlier acquire was kept alive
            }
            with.keepAlive().watch(grant); // no effect if an earlier acquire keeps it alive
        }
        return grant;
    }

    private void keepAlive(
            Acquire acquire,
            HeldGrant state,
            Supplier<? extends @Nullable GrantHandle> user,
            Duration maxHold,
            Acquire.Answer answer) {
        with.keepAlive().keep(state, user, Deadline.after(answer.asOf(), maxHold), answer.epoch());
        with.keepAlive().confirm(state, acquire.callDeadline().plus(with.decisionTimeout()));
    }

    /**
     * Ensures that a failed acquire holds nothing. Waits for the database for the decision timeout, unless the wait time has passed.
     *
     * @return the exception to throw to the caller
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
        return failure instanceof CancellationException
                        || (Thread.currentThread().isInterrupted() && TransactionFailures.isWorthRepeating(failure))
                ? interrupted(acquire, failure)
                : (RuntimeException) failure;
    }

    /** The exception for an acquire that ended because its caller was interrupted. */
    private static AcquireInterruptedException interrupted(Acquire acquire, Throwable failure) {
        AcquireInterruptedException interrupted =
                new AcquireInterruptedException(acquire.command().permits().keySet());
        interrupted.addSuppressed(failure);
        return interrupted;
    }

    private void undo(Acquire acquire, Throwable failure) {
        boolean inTime = !acquire.hasWaitTime()
                || !acquire.callDeadline().isPassed(); // if passed, the database did not answer within the wait time
        // on a thread of the library: the pool may have no connection for longer than the caller waits
        CompletableFuture<Boolean> undone = with.background().undo(acquire);
        CountDownLatch ended = new CountDownLatch(1);
        CompletableFuture<?> unused = undone.whenComplete((result, undoFailure) -> ended.countDown());
        Duration timeout = with.decisionTimeout();
        Deadline until = acquire.hasWaitTime()
                ? Deadline.in(timeout)
                : acquire.callDeadline().plus(timeout);
        if (!inTime || !Uninterruptibles.await(ended, until.remainingNanos()) || !undone.join()) {
            throw new AcquireOutcomeUnknownException(acquire.command().externalId(), failure);
        }
    }
}
