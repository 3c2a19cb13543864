package io.dbsemaphore.engine.batch;

import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.PartialReleaseException;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.engine.batch.GrantQueue.Batch;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.engine.support.RetryLimit;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.persistence.unit.CommitOutcomeUnknownException;
import java.time.Duration;
import java.util.Collections;
import java.util.List;
import java.util.Map;
import java.util.concurrent.ThreadLocalRandom;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;

/**
 * Does the batches: one transaction for all that has gathered, and to each caller its own outcome. A batch that fails is
 * taken apart, so that only the caller whose order causes an error sees it. After a
 * {@linkplain ConflictBackOff conflict} it is tried again as a whole: taken apart, it would conflict more often and do less.
 */
final class BatchRunner implements BatchWorkers.Source {

    private final GrantQueue queue;
    private final BatchTransaction attempt;
    private final ReleaseBatcher releases;
    private final BackgroundReleaser background;
    private final AvailabilityPoller poller;
    private final GroupCommitDelay groupCommitDelay;
    private final int maxAttempts;
    private final Duration lockWait;

    BatchRunner(
            GrantQueue queue,
            BatchTransaction attempt,
            ReleaseBatcher releases,
            BackgroundReleaser background,
            AvailabilityPoller poller,
            GroupCommitDelay groupCommitDelay,
            int maxAttempts,
            Duration lockWait) {
        this.queue = queue;
        this.attempt = attempt;
        this.releases = releases;
        this.background = background;
        this.poller = poller;
        this.groupCommitDelay = groupCommitDelay;
        this.maxAttempts = maxAttempts;
        this.lockWait = lockWait;
    }

    @Override
    public long nanosToWork() {
        return releases.hasPiggyBacked() ? 0 : queue.nanosToWork();
    }

    /** What a round took once it had a connection. */
    private static final class Taken {

        private @Nullable Batch batch;
        private ReleaseBatcher.@Nullable PiggyBack piggyBack;
        private long epoch;
    }

    @Override
    public void work(boolean mayWait) {
        Taken taken = new Taken();
        BatchResult result = null;
        try {
            boolean withKeptAlive = queue.hasKeptAlive();
            taken.epoch = withKeptAlive ? attempt.prepareKeepAlive() : 0;
            // the connection comes first: meanwhile more gathers, and who gives up has had nothing done for him
            result = attempt.run(() -> take(taken, withKeptAlive, mayWait));
        } catch (RuntimeException | Error failure) {
            failed(taken, failure);
        }
        if (result != null && taken.batch != null) {
            done(taken.batch, taken, result);
        }
        if (queue.waiters().isAny()) {
            poller.begin();
        }
        if (mayWait && taken.batch != null && queue.isContended()) {
            groupCommitDelay.await(Duration.ofNanos(System.nanoTime() - taken.batch.begunAt()));
        } else {
            groupCommitDelay.forget();
        }
    }

    private GrantBatch take(Taken taken, boolean withKeptAlive, boolean mayWait) {
        Batch batch = queue.take(withKeptAlive, mayWait, releases.hasPiggyBacked());
        taken.batch = batch;
        if (batch.isWaiting()) { // releases must not
            return batch.grants(Collections.emptySortedMap());
        }
        ReleaseBatcher.PiggyBack piggyBack = releases.takePiggyBacked();
        taken.piggyBack = piggyBack;
        return batch.grants(piggyBack.permitIds());
    }

    private void done(Batch batch, Taken taken, BatchResult result) {
        List<GrantOutcome> outcomes = result.outcomes();
        try {
            finish(batch, result.availability(), () -> settle(batch, outcomes, taken.epoch));
        } finally {
            if (taken.piggyBack != null) {
                groupCommitDelay.leave(taken.piggyBack.releases());
                taken.piggyBack.done(result.released());
            }
        }
        attempt.tell(result);
    }

    private void failed(Taken taken, Throwable failure) {
        boolean reached = taken.batch != null;
        Batch batch = taken.batch != null ? taken.batch : queue.take(true, true, false);
        if (failure instanceof PartialReleaseException) {
            finish(batch, Map.of(), () -> undecided(batch).forEach(this::again));
        } else {
            finish(batch, Map.of(), () -> fail(batch, failure, reached));
        }
        boolean again = taken.piggyBack != null
                ? taken.piggyBack.failed(failure)
                : !reached && releases.takePiggyBacked().failed(failure);
        if (again
                || batch.members().stream()
                        .anyMatch(pending -> !pending.answer().isDone())) {
            attempt.tellRetried(failure);
        }
    }

    private void finish(Batch batch, Map<String, RemainingAvailability> availability, Runnable moves) {
        queue.finish(batch, availability, () -> {
            try {
                moves.run();
            } catch (RuntimeException | Error unforeseen) { // nobody may wait for ever
                undecided(batch).forEach(pending -> giveUp(pending, unforeseen));
            }
        });
        batch.members().stream().filter(QueuedAcquire::isDecided).forEach(pending -> {
            groupCommitDelay.leave(1);
            pending.tell();
        });
    }

    private static Stream<QueuedAcquire> undecided(Batch batch) {
        return batch.members().stream().filter(pending -> pending.place() == QueuedAcquire.Place.BATCH);
    }

    /** It may have been granted, so that it has to be undone. */
    private static void giveUp(QueuedAcquire pending, Throwable failure) {
        if (pending.command().isClaimed()) {
            pending.command().setOutcomeUnknown(true);
        }
        pending.decide(new IllegalStateException("A grant failed: " + failure, failure));
    }

    private void settle(Batch batch, List<GrantOutcome> outcomes, long epoch) {
        for (int i = 0; i < outcomes.size(); i++) {
            QueuedAcquire pending = batch.members().get(i);
            if (pending.place() == QueuedAcquire.Place.BATCH) {
                settle(pending, new Granter.Answer(outcomes.get(i), batch.begunAt(), epoch));
            }
        }
    }

    private void settle(QueuedAcquire pending, Granter.Answer answer) {
        GrantOutcome outcome = answer.outcome();
        AcquireCommand command = pending.command();
        if (outcome instanceof GrantOutcome.Postponed postponed) {
            postpone(pending, postponed.name());
            return;
        }
        command.setOutcomeUnknown(false);
        if (outcome instanceof GrantOutcome.Granted) {
            if (pending.isAbandoned()) {
                background.undo(command);
            }
            pending.decide(answer);
            return;
        }
        command.unclaim();
        if (outcome instanceof GrantOutcome.Refused refused) {
            command.refused();
            pending.refused(refused.shortages());
            queue.refused(pending);
            pending.setBlockedBy(null);
            pending.setPostponedUntil(null);
            if (command.isWillingToWait() && !pending.isAbandoned()) {
                park(pending);
                return;
            }
        }
        pending.decide(answer);
    }

    private void park(QueuedAcquire pending) {
        if (queue.isClosed()) {
            pending.decide(new SemaphoreClosedException());
        } else {
            queue.park(pending);
        }
    }

    /** Somebody else has locked a row. It may be waited for in another round, or looked at again, but not for ever. */
    private void postpone(QueuedAcquire pending, String name) {
        pending.command().unclaim();
        boolean again = pending.blockedBy() != null;
        pending.setBlockedBy(name);
        queue.contested();
        Deadline until = pending.postponedUntil();
        if (until == null) {
            pending.setPostponedUntil(Deadline.in(lockWait));
        } else if (until.isPassed()) {
            pending.setPostponedUntil(null);
            CannotAcquireLockException failure =
                    new CannotAcquireLockException("A row of the semaphores %s was locked by another transaction for %s"
                            .formatted(pending.names(), lockWait));
            if (pending.failed(failure) >= maxAttempts || !isInTime(pending)) {
                pending.decide(failure);
                return;
            }
        }
        // who was not passed over before, may wait for the row at once
        pauseAndTryAgain(
                pending, again ? Duration.ofMillis(ThreadLocalRandom.current().nextLong(2, 20)) : Duration.ZERO);
    }

    private void fail(Batch batch, Throwable failure, boolean reached) {
        boolean unknown = failure instanceof CommitOutcomeUnknownException;
        boolean conflict = SqlErrors.isVictim(failure);
        boolean unreachable = !reached || unknown || SemaphorePersistence.isUnreachable(failure);
        RuntimeException shown = failure instanceof CommitOutcomeUnknownException commit
                ? commit.translatedCause()
                : failure instanceof RuntimeException exception
                        ? exception
                        : new IllegalStateException("A grant failed: " + failure, failure);
        if (conflict) {
            queue.conflicted(batch);
        }
        boolean isShared = batch.members().size() > 1 && !unreachable;
        for (QueuedAcquire pending : batch.members()) {
            if (unknown && pending.command().isClaimed()) {
                pending.command().setOutcomeUnknown(true);
            } else if (!pending.command().isOutcomeUnknown()) {
                pending.command().unclaim();
            }
            if (pending.place() != QueuedAcquire.Place.BATCH) {
                continue;
            }
            if (pending.isAbandoned()) {
                if (pending.command().isOutcomeUnknown()) {
                    background.undo(pending.command());
                }
                pending.decide(shown);
            } else if ((conflict || !isShared) && isWorthAnother(pending, shown, failure, unreachable)) {
                pauseAndTryAgain(pending, conflict ? Duration.ZERO : RetryLimit.pauseAfter(pending.attempts()));
            } else if (isShared) {
                pending.isolate();
                again(pending);
            } else {
                pending.decide(shown);
            }
        }
    }

    private boolean isWorthAnother(
            QueuedAcquire pending, RuntimeException shown, Throwable failure, boolean unreachable) {
        boolean worthIt = RetryLimit.remain(failure, pending.failed(shown), maxAttempts, pending.begunAt())
                && (!SqlErrors.isLockWait(failure) || isInTime(pending));
        boolean waits =
                pending.command().isWillingToWait() && !pending.deadline().isPassed();
        return worthIt || (waits && (unreachable || SqlErrors.isVictim(failure)));
    }

    /** Whether a row may be waited for, in all attempts taken together, although its caller does not wait for permits. */
    private boolean isInTime(QueuedAcquire pending) {
        return !pending.isWaitOver()
                || !Deadline.after(pending.deadline().nanos(), lockWait).isPassed();
    }

    private void pauseAndTryAgain(QueuedAcquire pending, Duration pause) {
        pending.pauseUntil(Deadline.in(pause));
        again(pending);
    }

    private void again(QueuedAcquire pending) {
        if (queue.isClosed() && !pending.command().isOutcomeUnknown()) {
            pending.decide(new SemaphoreClosedException());
        } else {
            queue.again(pending);
        }
    }
}
