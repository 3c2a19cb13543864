package io.dbsemaphore.engine.batch;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.PartialReleaseException;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.DeadInstanceLog;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.persistence.BatchTransaction;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.SortedMap;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs one batch: takes it from the {@link WorkQueue}, has one transaction execute it, has the queue settle it, and answers each caller.
 * Stateless.
 */
final class BatchRunner {

    private final WorkQueue queue;
    private final BatchTransaction transaction;
    private final LongSupplier keepAlive;
    private final BackgroundReleaser background;
    private final ListenerNotifier listeners;
    private final BatchObserver observer;
    private final AvailabilityPoller poller;
    private final GroupCommitDelay delay;

    /**
     * Creates a runner.
     *
     * @param keepAlive ensures that this instance has a valid lease, and returns its epoch
     */
    BatchRunner(
            WorkQueue queue,
            BatchTransaction transaction,
            LongSupplier keepAlive,
            BackgroundReleaser background,
            ListenerNotifier listeners,
            BatchObserver observer,
            AvailabilityPoller poller,
            GroupCommitDelay delay) {
        this.queue = queue;
        this.transaction = transaction;
        this.keepAlive = keepAlive;
        this.background = background;
        this.listeners = listeners;
        this.observer = observer;
        this.poller = poller;
        this.delay = delay;
    }

    /** What a transaction took from the queue as soon as it had a connection. */
    private static final class Taken {

        private @Nullable Batch batch;
        private long epoch;
    }

    /** Runs a batch of acquires, with the releases that are piggy-backed on it. */
    void grant() {
        Taken taken = new Taken();
        BatchResult result = null;
        try {
            boolean withKeptAlive = queue.hasKeptAlive();
            taken.epoch = withKeptAlive ? keepAlive.getAsLong() : 0;
            // the connection comes first: meanwhile more callers can join, and those that time out have nothing to undo
            result = transaction.grant(() -> take(taken, withKeptAlive));
        } catch (RuntimeException | Error failure) {
            Batch batch = taken.batch != null ? taken.batch : queue.take(true);
            answer(queue.finishFailed(batch, failure, taken.batch != null));
            tellRetried(batch.members(), batch.releases(), failure);
        }
        if (result != null
                && taken.batch != null) { // a later failure does not concern the transaction: the batch is settled once
            Settlement.Result settled = queue.finish(taken.batch, result, taken.epoch);
            delay.answered(taken.batch.releases().size());
            answer(settled);
            observer.committed(result.availability());
            tell(result);
        }
        if (queue.needsPolls()) {
            poller.begin();
        }
        if (taken.batch != null) {
            observer.waiting(taken.batch.names());
        }
        if (taken.batch != null && queue.isContended()) {
            delay.await(Duration.ofNanos(System.nanoTime() - taken.batch.startedAt()));
        } else {
            delay.skip();
        }
    }

    private GrantBatch take(Taken taken, boolean withKeptAlive) {
        Batch batch = queue.take(withKeptAlive);
        taken.batch = batch;
        return batch.forTransaction();
    }

    /**
     * Runs a transaction of releases only.
     *
     * @return whether waiting acquires are to be tried now
     */
    boolean release() {
        WorkQueue.ReleaseBatch batch = queue.takeReleases();
        if (batch.releases().isEmpty()) {
            return false;
        }
        Map<Long, ReleaseOutcome> outcomes;
        try {
            outcomes = execute(batch);
        } catch (RuntimeException | Error failure) {
            answer(queue.finishFailed(batch, failure));
            tellRetried(List.of(), batch.releases(), failure);
            return false;
        }
        Settlement.Result settled = queue.finish(batch, outcomes);
        answer(settled);
        return settled.woken();
    }

    /** The outcomes by request; those of locked rows are missing. */
    private Map<Long, ReleaseOutcome> execute(WorkQueue.ReleaseBatch batch) {
        if (batch.waits()) {
            Release release = batch.releases().get(0);
            return Map.of(release.requestId(), transaction.release(release.grant()));
        }
        SortedMap<Long, List<Long>> permitIds = Release.permitIds(batch.releases());
        if (!batch.isLockedLikely()) {
            try {
                return transaction.releaseSkipLocked(permitIds);
            } catch (PartialReleaseException oneIsReleasedAlready) {
                // then each of them is looked at
            }
        }
        return transaction.releaseSkipLocked(permitIds.keySet());
    }

    private void answer(Settlement.Result settled) {
        try {
            settled.toUndo().forEach(background::undo);
            settled.acquires().forEach(acquire -> {
                delay.answered(1);
                acquire.complete();
            });
        } finally {
            settled.releases().forEach(Release::complete);
        }
    }

    private void tellRetried(List<Acquire> acquires, List<Release> released, Throwable failure) {
        if (acquires.stream().anyMatch(acquire -> !acquire.answer().isDone())
                || released.stream().anyMatch(release -> !release.answer().isDone())) {
            listeners.tell(listener -> listener.retried(new SemaphoreListener.Retried(failure)));
        }
    }

    private void tell(BatchResult result) {
        DeadInstanceLog.warn(result.reclaimed());
        result.reclaimed()
                .forEach(each -> listeners.tell(listener ->
                        listener.expired(new SemaphoreListener.Expired(each.externalId(), each.permits()))));
        int decided = (int) result.outcomes().stream()
                .filter(outcome ->
                        !(outcome instanceof GrantOutcome.Postponed) && !(outcome instanceof GrantOutcome.Withdrawn))
                .count();
        if (decided > 0) {
            listeners.tell(listener -> listener.decided(new SemaphoreListener.Decided(decided)));
        }
    }
}
