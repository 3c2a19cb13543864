package io.dbsemaphore.engine.batch;

import io.dbsemaphore.QueuePosition;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.HandoverOutcome;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.ReleaseChannel;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.persistence.AvailabilityTransactions;
import io.dbsemaphore.persistence.BatchTransaction;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.BooleanSupplier;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Acquires and releases in batches, as a group commit. A caller queues its acquire or release, and waits for the answer or continues. A
 * thread executes the queued ones in one transaction. A lone caller is served at once. When many callers acquire repeatedly, a batch
 * may be {@linkplain GroupCommitDelay delayed} briefly so that the callers of the previous one can join it.
 */
public final class GroupCommit {

    private static final Duration MAX_DELAY = Duration.ofMillis(1);

    private final Collaborators with;
    private final AcquireDeadlines deadlines;
    private final AvailabilityPoller poller;
    private final GroupCommitDelay delay = new GroupCommitDelay(MAX_DELAY);
    private final BatchLoop grants;
    private final BatchLoop releases;
    final WorkQueue queue;

    /**
     * The collaborators of a group commit.
     *
     * @param keepAlive ensures that this instance has a valid lease, and returns its epoch
     * @param scheduler waits for deadlines; never blocks
     * @param database runs the batches and the polls
     * @param nobody represents this instance when no caller waits
     * @param retryListenerThreads calls listeners of retries, which may block, for example to release a grant
     * @param channel the channel on which instances notify one another of releases; null without notifications
     */
    public record Collaborators(
            BatchTransaction transaction,
            AvailabilityTransactions availability,
            LongSupplier keepAlive,
            BackgroundReleaser background,
            BatchObserver observer,
            OwnLines nobody,
            DaemonThreads threads,
            ScheduledExecutorService scheduler,
            DatabaseThreads database,
            Executor retryListenerThreads,
            @Nullable ReleaseChannel channel) {}

    /**
     * Creates an instance that is not started.
     *
     * @param limits the limits of batches of acquires and of batches of releases
     * @param certifiesWrites whether the server belongs to a cluster in which several servers accept writes
     */
    public GroupCommit(Collaborators with, BatchLimits limits, boolean certifiesWrites) {
        this.with = with;
        queue = new WorkQueue(limits, certifiesWrites, with.nobody(), QueueClock.SYSTEM);
        grants = new BatchLoop(with.database(), limits.atOnce(), queue::nanosToWork, this::grant);
        releases = new BatchLoop(with.database(), limits.atOnce(), queue::nanosToReleases, this::release);
        deadlines = new AcquireDeadlines(
                queue, with.background(), limits.decisionTimeout(), this::changed, with.scheduler(), QueueClock.SYSTEM);
        poller = new AvailabilityPoller(queue, with.availability(), with.database(), with.channel(), this::polled);
    }

    /** Starts to listen for notifications of other instances, if there are any. */
    public void start() {
        poller.start(with.threads());
    }

    private void polled() {
        answerDisplaced();
        grants.signal();
    }

    private void changed() {
        grants.signal();
        poller.begin();
    }

    /**
     * Queues an acquire. It gets permits as soon as they are available within its wait time; without a wait time it is tried once.
     *
     * <p>Its {@linkplain Acquire#answer answer} is granted, refused or rejected, or a failure, such as a {@link SemaphoreClosedException}.
     * After a failure permits may be held only if the {@linkplain Acquire#isOutcomeUnknown() outcome is unknown}.
     */
    public void submit(Acquire acquire) {
        boolean isTried = queue.add(acquire);
        delay.arrived();
        if (isTried) {
            grants.signal();
        } else {
            with.observer().waiting(acquire.names());
        }
        deadlines.schedule(acquire);
        answerDisplaced();
    }

    /** Where a submitted acquire stands; empty if it does not wait. */
    public List<QueuePosition> positions(Acquire acquire) {
        return queue.positions(acquire);
    }

    /** Removes a submitted acquire from the queue, unless it is answered or a grant is being written for it. */
    public void cancel(Acquire acquire) {
        if (!acquire.answer().isDone()) {
            deadlines.cancel(acquire);
        }
    }

    /**
     * Begins to release a grant, with retries. Callers in this JVM that wait for the grant's permits are served.
     *
     * @param maybeLost whether the grant has expired, so that another instance may have released it; called under the lock of the queue
     */
    public Release release(StoredGrant grant, BooleanSupplier maybeLost) {
        return submit(new Release(grant, maybeLost, QueueClock.SYSTEM));
    }

    /** Repeats a release that has failed. An earlier attempt may have released the grant. */
    public Release releaseAgain(Release failed) {
        return submit(failed.again());
    }

    private Release submit(Release release) {
        if (queue.add(release)) {
            delay.arrived();
            grants.signal();
        } else {
            releases.signal();
        }
        return release;
    }

    /** Runs a batch of acquires, with the releases that are piggy-backed on it. */
    void grant() {
        Attempt attempt = new Attempt();
        BatchResult result = null;
        try {
            attempt.ensureLease();
            // the batch is taken once there is a connection: until then callers can join, or leave with nothing to undo
            result = with.transaction().grant(attempt::take);
        } catch (RuntimeException | Error failure) {
            attempt.failed(failure);
        }
        if (result != null) { // outside of try: its failure must not settle the batch again
            attempt.committed(result);
        }
        poller.begin();
        Batch batch = attempt.batch;
        if (batch != null) {
            with.observer().waiting(batch.names());
        }
        if (batch != null && queue.isBusy()) {
            delay.await(Duration.ofNanos(System.nanoTime() - batch.startedAt()));
        } else {
            delay.skip();
        }
    }

    /** One transaction of acquires. */
    private final class Attempt {

        private final boolean withKeptAlive = queue.hasKeptAlive();
        private long epoch;
        private @Nullable Batch batch;

        void ensureLease() {
            epoch = withKeptAlive ? with.keepAlive().getAsLong() : 0;
        }

        GrantBatch take() {
            Batch taken = queue.take(withKeptAlive);
            batch = taken;
            if (queue.nanosToWork() < Long.MAX_VALUE) { // if this batch takes long, another can begin beside it
                grants.signal();
            }
            return taken.forTransaction();
        }

        void failed(Throwable failure) {
            GroupCommit.this.failed(batch == null ? queue.take(true) : batch, failure, batch != null);
        }

        void committed(BatchResult result) {
            Batch committed = Objects.requireNonNull(batch);
            Settlement.Result settled = queue.finish(committed, result, epoch);
            delay.answered(committed.releases().size());
            answer(settled);
            with.observer().committed(result.availability());
            tell(result);
        }
    }

    /** Runs a transaction of releases only. */
    private void release() {
        Batch batch = queue.takeReleases();
        if (batch.releases().isEmpty()) {
            return;
        }
        BatchResult result;
        try {
            result = with.transaction()
                    .release(
                            Release.permitIds(batch.releases()),
                            batch.awaitsRow(),
                            batch.releases().get(0).isBlocked());
        } catch (RuntimeException | Error failure) {
            failed(batch, failure, true);
            return;
        }
        Settlement.Result settled = queue.finish(batch, result, 0);
        answer(settled);
        if (settled.woken()) {
            grants.signal();
        }
    }

    private void failed(Batch batch, Throwable failure, boolean reached) {
        Settlement.Result settled = queue.finishFailed(batch, failure, reached);
        boolean repeated = !settled.releases().keySet().containsAll(batch.releases())
                || batch.members().stream()
                        .anyMatch(acquire -> !settled.acquires().containsKey(acquire)
                                && !acquire.answer().isDone());
        answer(settled);
        if (repeated) { // as of the failure: the repetition may have succeeded by now
            with.retryListenerThreads() // here, a release by a listener would wait for this batch
                    .execute(() ->
                            with.observer().tell(listener -> listener.retried(new SemaphoreListener.Retried(failure))));
        }
    }

    private void answer(Settlement.Result settled) {
        settled.releases().values().forEach(Runnable::run);
        settled.acquires().values().forEach(answer -> {
            delay.answered(1);
            answer.run();
        });
        settled.toUndo().forEach(acquire -> {
            var unused = with.background().undo(acquire);
        });
        answerDisplaced();
        if (queue.nanosToReleases() < Long.MAX_VALUE) { // piggy-backed releases that are tried again
            releases.signal();
        }
    }

    /** Answers callers that newer ones have displaced in their line. */
    private void answerDisplaced() {
        boolean isAny = false;
        for (Acquire next = queue.takeDisplaced(); next != null; next = queue.takeDisplaced()) {
            boolean unused = next.answer().complete(next.lastRefusal());
            isAny = true;
        }
        if (isAny) { // others may have become ready
            grants.signal();
        }
    }

    private void tell(BatchResult result) {
        DeadInstanceLog.warn(result.reclaimed());
        result.reclaimed()
                .forEach(each -> with.observer()
                        .tell(listener ->
                                listener.expired(new SemaphoreListener.Expired(each.externalId(), each.permits()))));
        int decided = 0;
        for (GrantOutcome outcome : result.outcomes()) {
            decided += outcome.isDecision() ? 1 : 0;
        }
        if (decided > 0) {
            SemaphoreListener.Decided event = new SemaphoreListener.Decided(decided);
            with.observer().tell(listener -> listener.decided(event));
        }
    }

    /** Whether a caller of this JVM waits for this semaphore. Takes no lock. */
    public boolean isAwaited(String name) {
        return queue.isAwaited(name);
    }

    /** Hands released permits over by {@link WorkQueue#handOver}, and answers the acquire that got them. */
    public HandoverOutcome handOver(ReuseTerms terms, GrantOutcome.HandedOver permits) {
        WorkQueue.HandoverResult result = queue.handOver(terms);
        if (result.acquire() != null) {
            boolean unused = result.acquire().answer().complete(new Acquire.Answer(permits, System.nanoTime(), 0));
        }
        if (result.woken()) {
            grants.signal();
        }
        return result.outcome();
    }

    /** Polls the availability of all awaited semaphores at once. */
    public void pollNow() {
        poller.pollNow();
    }

    /**
     * Ends every wait with a {@link SemaphoreClosedException}. Acquires that are being decided get their answer within the decision timeout.
     * Grants are still released, even those whose release is submitted later.
     */
    public void stopAcquires() {
        List<Acquire> waiting = queue.close();
        queue.inFlight().forEach(deadlines::schedule);
        waiting.forEach(acquire -> acquire.answer().completeExceptionally(new SemaphoreClosedException()));
        poller.stop(!waiting.isEmpty()); // a batch may have told other instances of these callers
    }
}
