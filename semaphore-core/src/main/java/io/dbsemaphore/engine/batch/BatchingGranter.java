package io.dbsemaphore.engine.batch;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.domain.FairQueuing;
import io.dbsemaphore.domain.HandoverOutcome;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.jdbc.ReleaseChannel;
import io.dbsemaphore.persistence.AvailabilityTransactions;
import io.dbsemaphore.persistence.BatchTransaction;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
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
    private final AvailabilityPoller poller;
    private final GroupCommitDelay groupCommitDelay = new GroupCommitDelay(MAX_DELAY);
    private final BatchRunner runner;
    private final BatchWorkers workers;

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
        deadlines = new AcquireDeadlines(
                queue, with.background(), decisionTimeout, this::signal, this::departed, with.threads());
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
     * Grants an acquire as soon as permits are available within its wait time; without a wait time it is tried once.
     *
     * @return granted, refused or rejected
     * @throws AcquireInterruptedException when interrupted while the acquire was not being decided; nothing is held
     * @throws SemaphoreClosedException when closed
     * @throws RuntimeException when the acquire failed. Permits may be held only if the {@linkplain
     *     Acquire#isOutcomeUnknown() outcome is unknown}
     */
    public Acquire.Answer grant(Acquire acquire) {
        if (Thread.currentThread().isInterrupted()) {
            throw new AcquireInterruptedException(acquire.command().permits().keySet());
        }
        if (enqueue(acquire)) {
            signal();
        }
        return deadlines.await(acquire);
    }

    /** As {@link #grant}, without waiting for the {@linkplain Acquire#answer answer}. */
    public void submit(Acquire acquire) {
        boolean isTried = enqueue(acquire);
        try {
            if (isTried) {
                signal();
            }
            deadlines.schedule(acquire);
        } catch (RuntimeException | Error failure) {
            withdraw(acquire);
            throw failure;
        }
    }

    /** Removes a submitted acquire from the queue, unless it is answered or a grant is being written for it. */
    public void withdraw(Acquire acquire) {
        if (!acquire.answer().isDone() && !deadlines.withdraw(acquire)) {
            deadlines.schedule(acquire);
        }
    }

    /** Returns whether the acquire is to be tried now. */
    private boolean enqueue(Acquire acquire) {
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
    public HandoverOutcome handOver(ReuseTerms terms, Acquire.Answer answer) {
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
        List<Acquire> waiting = queue.close();
        waiting.forEach(acquire -> acquire.answer().completeExceptionally(new SemaphoreClosedException()));
        poller.close(!waiting.isEmpty()); // other instances may know of these callers, although it has not polled yet
        workers.close();
        deadlines.close();
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
