package io.dbsemaphore.engine.batch;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.CallerExceptions;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.persistence.AvailabilityTransactions;
import io.dbsemaphore.persistence.GrantTransaction;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Grants the acquires of all callers together: a caller queues its acquire, and waits for the answer or goes on; one thread
 * takes all that is queued and decides it in one transaction, as a group commit does. A lone caller waits for nothing.
 * Where many callers acquire again and again, a batch may {@linkplain GroupCommitDelay be delayed} briefly so that the
 * callers of the previous one can join it.
 */
public final class BatchingGranter implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(BatchingGranter.class);

    private static final Duration MAX_DELAY = Duration.ofMillis(1);

    private final GrantQueue queue;
    private final boolean batching;
    private final AcquireDeadlines deadlines;
    private final AcquireTimer timer;
    private final AvailabilityPoller poller;
    private final GroupCommitDelay groupCommitDelay = new GroupCommitDelay(MAX_DELAY);
    private final BatchRunner runner;
    private final BatchWorkers workers;

    /**
     * What was decided about an acquire.
     *
     * @param asOf this JVM's clock before the transaction that decided it
     * @param epoch the lease epoch of this instance before that
     */
    public record Answer(GrantOutcome outcome, long asOf, long epoch) {}

    /** An acquire for whose answer no thread waits. */
    public interface Submission {

        /**
         * Completed as {@link #grant} returns or throws, or with a {@link CancellationException} once withdrawn; on a thread
         * of the engine, which must not be blocked.
         */
        CompletableFuture<Answer> answer();

        /** The caller has lost interest: the acquire leaves the queue, unless something is being written for it. */
        void withdraw();
    }

    /** What batches work with. */
    public record Collaborators(
            GrantTransaction transaction,
            LongSupplier keepAlive,
            AvailabilityTransactions availability,
            ReleaseBatcher releases,
            BackgroundReleaser background,
            ListenerNotifier listeners,
            DaemonThreads threads,
            DatabaseThreads databaseThreads) {}

    /**
     * Makes a granter.
     *
     * @param limits of the batches
     * @param decisionTimeout how long a caller waits for a decision after its wait time has ended
     * @param certifiesWrites whether the server is one of several that are written to
     */
    public BatchingGranter(Collaborators with, BatchLimits limits, Duration decisionTimeout, boolean certifiesWrites) {
        batching = limits.maxBatchSize() > 1;
        queue = new GrantQueue(limits, certifiesWrites, QueueClock.SYSTEM);
        deadlines = new AcquireDeadlines(queue, with.background(), decisionTimeout, this::signal);
        timer = new AcquireTimer(deadlines, with.threads());
        poller = new AvailabilityPoller(queue.waiters(), with.availability(), with.threads(), this::signal);
        runner = new BatchRunner(
                queue,
                with.transaction(),
                with.keepAlive(),
                with.releases(),
                with.background(),
                new BatchEvents(with.listeners()),
                poller,
                groupCommitDelay);
        workers = new BatchWorkers(with.threads(), "semaphore-grants", limits.atOnce(), with.databaseThreads(), runner);
    }

    /**
     * Grants, as soon as permits are available within the wait time.
     *
     * @param wait how long to wait for permits; without a wait time it is tried once
     * @return granted, refused or rejected
     * @throws AcquireInterruptedException when interrupted while it was not being decided; nothing is held
     * @throws SemaphoreClosedException when closed
     * @throws RuntimeException when it failed. Something may be held only if the state says that its
     *     {@linkplain AcquireState#isOutcomeUnknown() outcome is unknown}
     */
    public Answer grant(AcquireState state, WaitTime wait) {
        if (Thread.currentThread().isInterrupted()) {
            throw new AcquireInterruptedException(state.command().permits().keySet());
        }
        QueuedAcquire acquire = queued(state, wait);
        boolean isTried = enqueue(acquire);
        // not where it may wait for permits: it could not leave the batch at its deadline
        if (isTried && !wait.willingToWait() && !queue.isContended() && workers.beginInCaller()) {
            boolean interrupted = Thread.interrupted();
            try {
                runner.run(false);
            } catch (Throwable failure) { // the caller is answered below
                UnexpectedErrors.survive(log, "A batch on a caller's thread", failure);
            } finally {
                workers.endInCaller();
                if (interrupted) {
                    Thread.currentThread().interrupt();
                }
            }
        } else if (isTried) {
            signal();
        }
        return await(acquire);
    }

    /** Does what {@link #grant} does, without waiting for the answer. */
    public Submission submit(AcquireState state, WaitTime wait) {
        QueuedAcquire acquire = queued(state, wait);
        boolean isTried = enqueue(acquire);
        Submission submission = new Submission() {

            @Override
            public CompletableFuture<Answer> answer() {
                return acquire.answer();
            }

            @Override
            public void withdraw() {
                if (acquire.answer().isDone()) {
                    return;
                }
                if (BatchingGranter.this.withdraw(acquire)) {
                    boolean unused = acquire.answer().completeExceptionally(new CancellationException());
                } else {
                    timer.watch(acquire);
                }
            }
        };
        try {
            if (isTried) {
                signal();
            }
            timer.watch(acquire);
        } catch (RuntimeException | Error failure) {
            submission.withdraw();
            throw failure;
        }
        return submission;
    }

    private static QueuedAcquire queued(AcquireState state, WaitTime wait) {
        state.setWillingToWait(wait.willingToWait());
        return new QueuedAcquire(state, wait.deadline(), QueueClock.SYSTEM);
    }

    /** Returns whether it is to be tried now. */
    private boolean enqueue(QueuedAcquire acquire) {
        boolean isTried = queue.add(acquire);
        groupCommitDelay.arrived();
        return isTried;
    }

    private Answer await(QueuedAcquire pending) {
        boolean interrupted = false;
        try {
            for (long nanos = deadlines.advance(pending); nanos > 0; nanos = deadlines.advance(pending)) {
                try {
                    if (isAnswered(pending, nanos)) {
                        break;
                    }
                } catch (InterruptedException interrupt) {
                    interrupted = true;
                    if (withdraw(pending)) {
                        throw new AcquireInterruptedException(pending.names());
                    }
                }
            }
            return pending.answer().join();
        } catch (CompletionException failure) {
            throw CallerExceptions.of(failure.getCause());
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Ends the wait of a caller that has lost interest. True when nothing was decided, and nothing is held; otherwise the
     * answer comes.
     */
    private boolean withdraw(QueuedAcquire pending) {
        boolean unknown = pending.state().isOutcomeUnknown(); // then it is found out rather than given up
        pending.endWait();
        boolean givenUp = unknown ? !queue.tryLast(pending) : queue.giveUp(pending);
        if (givenUp && pending.state().isOutcomeUnknown()) {
            deadlines.answer(pending);
        } else if (givenUp) {
            signal(); // it may have been in another one's way
        }
        return givenUp && !pending.state().isOutcomeUnknown();
    }

    private static boolean isAnswered(QueuedAcquire pending, long nanos) throws InterruptedException {
        try {
            Answer unused = pending.answer().get(nanos, TimeUnit.NANOSECONDS);
            return true;
        } catch (ExecutionException failure) {
            return true;
        } catch (TimeoutException notYet) {
            return false;
        }
    }

    /**
     * Whether a transaction that grants is about to take releases of these semaphores with it, which costs nothing: then they
     * are better submitted for that than done in a transaction of their own.
     */
    public boolean acceptsReleases(Set<String> names) {
        return queue.takesReleases(names) && batching && workers.areSeveral();
    }

    /** Permits of these semaphores were submitted to be released with the next grants. */
    public void releasing(Map<String, Integer> permits) {
        boolean unused = queue.released(permits);
        groupCommitDelay.arrived();
        signal();
    }

    /** Permits of these semaphores were released by this JVM. */
    public void released(Map<String, Integer> permits) {
        if (queue.released(permits)) {
            signal();
        }
        if (queue.waiters().nanosToPauseEnd() < Long.MAX_VALUE) {
            poller.reconsider();
        }
    }

    /** Permits of any semaphore may have become available. */
    public void lookAgain() {
        poller.lookNow();
    }

    /** Ends every wait. */
    @Override
    public void close() {
        queue.close().forEach(pending -> pending.answer().completeExceptionally(new SemaphoreClosedException()));
        poller.close();
        workers.close();
        timer.close();
    }

    private void signal() {
        workers.signal();
    }
}
