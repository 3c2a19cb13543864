package io.dbsemaphore.engine.batch;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.FairQueuing;
import io.dbsemaphore.domain.HandoverOutcome;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.engine.support.WaitTime;
import io.dbsemaphore.jdbc.ReleaseChannel;
import io.dbsemaphore.persistence.AvailabilityTransactions;
import io.dbsemaphore.persistence.BatchTransaction;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Grants acquires in batches: a caller queues its acquire, and waits for the answer or continues; one thread takes the queued
 * acquires and decides them in one transaction, as a group commit. A lone caller is served at once. When many callers acquire
 * repeatedly, a batch may be {@linkplain GroupCommitDelay delayed} briefly so that the callers of the previous one can join it.
 */
public final class BatchingGranter implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(BatchingGranter.class);

    private static final Duration MAX_DELAY = Duration.ofMillis(1);

    private final GrantQueue queue;
    private final BatchObserver observer;
    private final boolean batching;
    private final AcquireDeadlines deadlines;
    private final AnswerWait waits;
    private final AcquireTimer timer;
    private final AvailabilityPoller poller;
    private final GroupCommitDelay groupCommitDelay = new GroupCommitDelay(MAX_DELAY);
    private final BatchRunner runner;
    private final BatchWorkers workers;

    /**
     * An acquire for whose answer no thread waits.
     *
     * @param answer completed as {@link #grant} returns or throws, or with a {@link CancellationException} when withdrawn; on a
     *     thread of the engine, which must not be blocked
     * @param withdrawal removes the acquire from the queue, unless a grant is being written for it
     */
    public record Submission(CompletableFuture<AcquireAnswer> answer, Runnable withdrawal) {}

    /**
     * The collaborators of a granter.
     *
     * @param keepAlive ensures that this instance has a valid lease, and returns its epoch
     * @param channel on which instances notify one another of releases; null without notifications
     */
    public record Collaborators(
            BatchTransaction transaction,
            LongSupplier keepAlive,
            AvailabilityTransactions availability,
            ReleaseBatcher releases,
            BackgroundReleaser background,
            ListenerNotifier listeners,
            BatchObserver observer,
            FairQueuing fairQueuing,
            DaemonThreads threads,
            @Nullable ReleaseChannel channel) {}

    /**
     * Creates a granter.
     *
     * @param limits of the batches
     * @param decisionTimeout how long a caller waits for a decision after its wait time has ended
     * @param certifiesWrites whether the server belongs to a cluster in which several servers accept writes
     */
    public BatchingGranter(Collaborators with, BatchLimits limits, Duration decisionTimeout, boolean certifiesWrites) {
        batching = limits.maxBatchSize() > 1;
        observer = with.observer();
        queue = new GrantQueue(limits, certifiesWrites, with.fairQueuing(), QueueClock.SYSTEM);
        deadlines = new AcquireDeadlines(queue, with.background(), decisionTimeout, this::signal, this::departed);
        waits = new AnswerWait(queue, deadlines);
        timer = new AcquireTimer(deadlines, with.threads());
        poller = new AvailabilityPoller(
                queue.waiters(), with.availability(), with.channel(), with.threads(), this::signal);
        runner = new BatchRunner(
                queue,
                with.transaction(),
                with.keepAlive(),
                with.releases(),
                with.background(),
                with.listeners(),
                with.observer(),
                poller,
                groupCommitDelay);
        workers = new BatchWorkers(with.threads(), "semaphore-grants", limits.atOnce(), runner);
    }

    /** Starts the threads that grant. */
    public void start() {
        workers.start();
    }

    /**
     * Grants an acquire as soon as permits are available within the wait time.
     *
     * @param wait how long to wait for permits; without a wait time the acquire is tried once
     * @return granted, refused or rejected
     * @throws AcquireInterruptedException when interrupted while the acquire was not being decided; nothing is held
     * @throws SemaphoreClosedException when closed
     * @throws RuntimeException when the acquire failed. Permits may be held only if the {@linkplain
     *     AcquireState#isOutcomeUnknown() outcome is unknown}
     */
    public AcquireAnswer grant(AcquireState state, WaitTime wait) {
        if (Thread.currentThread().isInterrupted()) {
            throw new AcquireInterruptedException(state.command().permits().keySet());
        }
        QueuedAcquire acquire = queued(state, wait);
        if (enqueue(acquire)) {
            signal();
        }
        return waits.await(acquire);
    }

    /** As {@link #grant}, without waiting for the answer. */
    public Submission submit(AcquireState state, WaitTime wait) {
        QueuedAcquire acquire = queued(state, wait);
        boolean isTried = enqueue(acquire);
        try {
            if (isTried) {
                signal();
            }
            timer.schedule(acquire);
        } catch (RuntimeException | Error failure) {
            withdraw(acquire);
            throw failure;
        }
        return new Submission(acquire.answer(), () -> withdraw(acquire));
    }

    private void withdraw(QueuedAcquire acquire) {
        if (!acquire.answer().isDone() && !waits.withdraw(acquire)) {
            timer.schedule(acquire);
        }
    }

    private static QueuedAcquire queued(AcquireState state, WaitTime wait) {
        state.setWillingToWait(wait.willingToWait());
        return new QueuedAcquire(state, wait.deadline(), QueueClock.SYSTEM);
    }

    /** Returns whether the acquire is to be tried now. */
    private boolean enqueue(QueuedAcquire acquire) {
        boolean isTried = queue.add(acquire);
        groupCommitDelay.arrived();
        if (!isTried) {
            observer.waiting(acquire.names());
        }
        return isTried;
    }

    /**
     * Whether releases of these semaphores should be piggy-backed on the next grant transaction, which saves a transaction of
     * their own.
     */
    public boolean acceptsReleases(Set<String> names) {
        return queue.takesReleases(names) && batching && workers.areSeveral();
    }

    /** Records that permits were submitted to be released with the next grant transaction. */
    public void releasing(Map<String, Integer> permits) {
        boolean unused = queue.released(permits);
        groupCommitDelay.arrived();
        signal();
    }

    /** Records that this JVM released permits. */
    public void released(Map<String, Integer> permits) {
        if (queue.released(permits)) {
            signal();
        }
    }

    /** Whether a caller of this JVM waits for this semaphore. Takes no lock. */
    public boolean isAwaited(String name) {
        return queue.isAwaited(name);
    }

    /** See {@link GrantQueue#handOver}. */
    public HandoverOutcome handOver(ReuseTerms terms, AcquireAnswer answer) {
        GrantQueue.HandoverResult result = queue.handOver(terms, answer);
        try {
            if (result.acquire() != null) {
                result.acquire().complete();
            }
            if (result.woken()) {
                signal();
            }
        } catch (Throwable failure) { // the permits have a new owner already
            UnexpectedErrors.log(log, "The wake-up of callers", failure);
        }
        return result.outcome();
    }

    /** Polls the availability of all awaited semaphores at once. */
    public void pollNow() {
        poller.pollNow();
    }

    /** Ends every wait with a {@link SemaphoreClosedException}. */
    @Override
    public void close() {
        List<QueuedAcquire> waiting = queue.close();
        waiting.forEach(acquire -> acquire.answer().completeExceptionally(new SemaphoreClosedException()));
        poller.close(!waiting.isEmpty()); // other instances may know of these callers, although it has not polled yet
        workers.close();
        timer.close();
    }

    private void signal() {
        workers.signal();
    }

    /** A caller no longer waits. The poller tells the other instances, which would otherwise withhold permits for it. */
    private void departed() {
        if (!queue.waiters().isEmpty()) {
            beginPoller();
        }
    }

    private void beginPoller() {
        try {
            poller.begin();
        } catch (Throwable failure) { // the next batch tries again; the caller has to be answered
            UnexpectedErrors.log(log, "The start of the availability poller", failure);
        }
    }
}
