package io.dbsemaphore.engine.batch;

import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.DeadInstanceLog;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.persistence.BatchTransaction;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.util.Collections;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs the batches: takes one from the queue, has one transaction decide it, and answers each caller. Stateless: all state is
 * in the {@link GrantQueue}.
 */
final class BatchRunner implements BatchWorkers.Source {

    private final GrantQueue queue;
    private final BatchTransaction transaction;
    private final LongSupplier keepAlive;
    private final ReleaseBatcher releases;
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
            GrantQueue queue,
            BatchTransaction transaction,
            LongSupplier keepAlive,
            ReleaseBatcher releases,
            BackgroundReleaser background,
            ListenerNotifier listeners,
            BatchObserver observer,
            AvailabilityPoller poller,
            GroupCommitDelay delay) {
        this.queue = queue;
        this.transaction = transaction;
        this.keepAlive = keepAlive;
        this.releases = releases;
        this.background = background;
        this.listeners = listeners;
        this.observer = observer;
        this.poller = poller;
        this.delay = delay;
    }

    /** What a transaction took from the queues as soon as it had a connection. */
    private static final class Taken {

        private @Nullable AcquireBatch batch;
        private ReleaseBatcher.@Nullable PiggyBack piggyBack;
        private long epoch;
    }

    @Override
    public long nanosToWork() {
        return releases.hasPiggyBacked() ? 0 : queue.nanosToWork();
    }

    @Override
    public void run() {
        Taken taken = new Taken();
        BatchResult result = null;
        try {
            boolean withKeptAlive = queue.hasKeptAlive();
            taken.epoch = withKeptAlive ? keepAlive.getAsLong() : 0;
            // the connection comes first: meanwhile more callers can join, and those that time out have nothing to undo
            result = transaction.grant(() -> take(taken, withKeptAlive));
        } catch (RuntimeException | Error failure) {
            failed(taken, failure);
        }
        if (result != null) { // a later failure does not concern the transaction: the batch is settled once
            committed(taken, result);
        }
        if (!queue.waiters().isEmpty()) {
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
        AcquireBatch batch = queue.take(withKeptAlive, releases.hasPiggyBacked());
        taken.batch = batch;
        if (batch.isWaiting()) { // releases must not wait for a row lock
            return batch.grants(Collections.emptySortedMap());
        }
        ReleaseBatcher.PiggyBack piggyBack = releases.takePiggyBacked();
        taken.piggyBack = piggyBack;
        return batch.grants(piggyBack.permitIds());
    }

    private void committed(Taken taken, BatchResult result) {
        AcquireBatch batch = taken.batch;
        if (batch == null) {
            return;
        }
        try {
            answer(queue.finish(batch, result, taken.epoch));
        } finally {
            if (taken.piggyBack != null) {
                delay.answered(taken.piggyBack.releases());
                taken.piggyBack.done(result.released());
            }
        }
        observer.committed(result.availability());
        tell(result);
    }

    private void failed(Taken taken, Throwable failure) {
        boolean reached = taken.batch != null;
        AcquireBatch batch = taken.batch != null ? taken.batch : queue.take(true, false);
        answer(queue.finishFailed(batch, failure, reached));
        boolean releasesTriedAgain = taken.piggyBack != null
                ? taken.piggyBack.failed(failure)
                : !reached && releases.takePiggyBacked().failed(failure);
        if (releasesTriedAgain
                || batch.members().stream()
                        .anyMatch(acquire -> !acquire.answer().isDone())) {
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

    private void answer(BatchSettlement.Result settled) {
        settled.toUndo().forEach(background::undo);
        settled.decided().forEach(acquire -> {
            delay.answered(1);
            acquire.complete();
        });
    }
}
