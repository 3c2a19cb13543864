package io.dbsemaphore.engine.batch;

import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.PartialReleaseException;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.engine.support.BackOff;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.engine.support.RetryLimit;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.unit.CommitOutcomeUnknownException;
import io.dbsemaphore.persistence.unit.TransactionFailures;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.concurrent.CancellationException;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;

/**
 * Settles a batch that has ended: each member is answered, waits for permits, or is queued again. The members of a batch that fails
 * are tried again one by one, so that only the caller whose acquire causes a failure sees it. After a {@linkplain
 * ConflictBackOff conflict} the batch is tried again as a whole: smaller batches would conflict more often. A caller that does
 * not wait is tried again alone after some conflicts, in case that another member causes them. Guarded by the lock of the {@link
 * GrantQueue}.
 */
final class BatchSettlement {

    /**
     * Nearly as long as a statement may wait for a lock: InnoDB looks once a second for those that have waited for a second, and
     * a decision that is being written is awaited for half a second.
     */
    private static final Duration LAST_WRITE = Duration.ofMillis(1600);

    private final ReadyQueue ready;
    private final WaitQueues waitQueues;
    private final Contention contention;
    private final BatchLimits limits;
    private final boolean closed;
    private final QueueClock clock;
    private final List<Acquire> toUndo = new ArrayList<>();

    /**
     * The result of a settlement, to be processed without the lock.
     *
     * @param decided the acquires whose callers are to be answered
     * @param toUndo what may have been granted to callers that no longer wait
     */
    record Result(List<Acquire> decided, List<Acquire> toUndo) {}

    /**
     * Begins to settle one batch.
     *
     * @param closed whether the queue is closed, so that nothing is tried again
     */
    BatchSettlement(
            ReadyQueue ready,
            WaitQueues waitQueues,
            Contention contention,
            BatchLimits limits,
            boolean closed,
            QueueClock clock) {
        this.ready = ready;
        this.waitQueues = waitQueues;
        this.contention = contention;
        this.limits = limits;
        this.closed = closed;
        this.clock = clock;
    }

    Result result(AcquireBatch batch) {
        List<Acquire> members = batch.members();
        return new Result(members.stream().filter(Acquire::isDecided).toList(), toUndo);
    }

    void committed(AcquireBatch batch, BatchResult result, long epoch) {
        List<GrantOutcome> outcomes = result.outcomes();
        for (int i = 0; i < outcomes.size(); i++) {
            Acquire acquire = batch.members().get(i);
            if (acquire.isInBatch()) {
                settle(acquire, new Acquire.Answer(outcomes.get(i), batch.startedAt(), epoch), result.availability());
            }
        }
    }

    private void settle(Acquire acquire, Acquire.Answer answer, Map<String, RemainingAvailability> availability) {
        GrantOutcome outcome = answer.outcome();
        acquire.setExternalIdLocked(false);
        if (outcome instanceof GrantOutcome.Postponed postponed) {
            postpone(acquire, postponed.name());
            return;
        }
        acquire.setOutcomeUnknown(false);
        if (outcome instanceof GrantOutcome.Granted) {
            if (acquire.isAbandoned()) {
                toUndo.add(acquire);
            }
            acquire.decide(answer);
            return;
        }
        acquire.unclaim();
        if (outcome instanceof GrantOutcome.Refused refused) {
            acquire.refused(refused.shortages());
            waitQueues.recordRefusal(refused.shortages());
            acquire.setBlockedBy(null);
            acquire.setPostponedUntil(null);
            if (acquire.isWillingToWait() && !acquire.isAbandoned()) {
                park(acquire, availability);
                return;
            }
        }
        departed(acquire);
        acquire.decide(answer);
    }

    /** Other instances may have been told that the caller waits, or may not have been told that it no longer does. */
    private void departed(Acquire acquire) {
        if (acquire.hasWaitTime()) {
            waitQueues.recordDeparted(acquire.names());
        }
    }

    private void fail(Acquire acquire, RuntimeException failure) {
        departed(acquire);
        acquire.decide(failure);
    }

    private void park(Acquire acquire, Map<String, RemainingAvailability> availability) {
        if (closed) {
            fail(acquire, new SemaphoreClosedException());
        } else {
            waitQueues.park(acquire, availability);
            acquire.moveTo(Acquire.Stage.WAIT_QUEUE); // if it is not in them, it is to be given up with the batch
        }
    }

    /** Another transaction has locked or deleted a row. A later batch waits for it or tries it again, for a limited time. */
    private void postpone(Acquire acquire, String name) {
        acquire.unclaim();
        boolean repeatedly = acquire.blockedBy() != null;
        acquire.setBlockedBy(name);
        contention.contested();
        // an acquire that was not postponed before may wait for the row at once
        tryAgainAfterLock(acquire, clock.in(limits.lockWait()), repeatedly ? randomMillis(2, 20) : Duration.ZERO, null);
    }

    /**
     * Another transaction has inserted or locked the external id of the acquire, or of another member of its batch. From now on
     * the acquire waits for its external id in a batch of its own, before it locks a semaphore. After a wait without success it
     * pauses, since few batches may wait at the same time. The time in a shared batch does not count, because the locked external
     * id may have been another member's.
     */
    private void externalIdLocked(Acquire acquire, AcquireBatch batch, RuntimeException failure) {
        Duration pause = acquire.isExternalIdLocked() ? randomMillis(250, 500) : randomMillis(2, 20);
        acquire.setExternalIdLocked(true);
        acquire.isolate();
        boolean shared = batch.members().size() > 1;
        if (!shared && isWaitOver(acquire)) {
            failLocked(acquire, failure);
            return;
        }
        Deadline until = shared ? clock.in(limits.lockWait()) : Deadline.after(batch.startedAt(), limits.lockWait());
        tryAgainAfterLock(acquire, until, pause, failure);
    }

    private void rowLocked(Acquire acquire, AcquireBatch batch, RuntimeException failure) {
        contention.contested();
        if (isWaitOver(acquire)) {
            failLocked(acquire, failure);
        } else {
            tryAgainAfterLock(acquire, Deadline.after(batch.startedAt(), limits.lockWait()), Duration.ZERO, failure);
        }
    }

    /** Whether the caller's wait time is over, so that it is answered after this attempt. */
    private static boolean isWaitOver(Acquire acquire) {
        return acquire.hasWaitTime() && acquire.isWaitOver();
    }

    /** Answers a caller whose last attempt has waited for a lock: by what it was refused for before, if it was. */
    private void failLocked(Acquire acquire, RuntimeException cause) {
        if (acquire.lastShortages().isEmpty() || acquire.isOutcomeUnknown()) {
            Duration passed =
                    Duration.ofNanos(clock.now() - acquire.queuedAt()).truncatedTo(ChronoUnit.MILLIS);
            decideAndUndo(acquire, new CannotAcquireLockException(acquire.lockedFor(passed), cause));
        } else {
            departed(acquire);
            acquire.decide(new Acquire.Answer(new GrantOutcome.Refused(acquire.lastShortages()), clock.now(), 0));
        }
    }

    private Duration randomMillis(int atLeast, int below) {
        return Duration.ofMillis(atLeast + clock.random(below - atLeast));
    }

    /** Tries an acquire again that found something locked, for a limited time. */
    private void tryAgainAfterLock(
            Acquire acquire, Deadline firstUntil, Duration pause, @Nullable RuntimeException cause) {
        if (acquire.postponedUntil() == null) {
            acquire.setPostponedUntil(firstUntil);
        }
        long remaining = clock.remainingNanos(Objects.requireNonNull(acquire.postponedUntil()));
        // what waits while it writes cannot be withdrawn: its last statement has to end before the limit
        boolean endsEarly = acquire.isWriteBlocked() && !acquire.hasWaitTime();
        if (remaining <= (endsEarly ? LAST_WRITE.toNanos() : 0)) {
            acquire.setPostponedUntil(null);
            Duration waited =
                    limits.lockWait().minusNanos(Math.max(0, remaining)).truncatedTo(ChronoUnit.MILLIS);
            CannotAcquireLockException failure = new CannotAcquireLockException(acquire.lockedFor(waited), cause);
            if (acquire.failed(failure) >= limits.maxAttempts() || !isInTime(acquire) || endsEarly) {
                decideAndUndo(acquire, failure);
                return;
            }
        }
        pauseAndTryAgain(acquire, pause);
    }

    /**
     * Settles a batch whose transaction has failed.
     *
     * @param reached whether the transaction had a connection
     */
    void failed(AcquireBatch batch, Throwable failure, boolean reached) {
        if (failure instanceof PartialReleaseException) { // a piggy-backed release is the cause, not a member
            batch.members().stream().filter(Acquire::isInBatch).forEach(this::tryAgain);
            return;
        }
        boolean unknown = failure instanceof CommitOutcomeUnknownException;
        boolean unreachable = !reached || unknown || TransactionFailures.isUnreachable(failure);
        RuntimeException reported = reported(failure);
        boolean lockWait = SqlErrors.isLockWait(failure);
        Set<Acquire> mayAwaitIds = lockWait ? batch.mayAwaitExternalIds() : Set.of();
        for (Acquire acquire : batch.members()) {
            // in a shared batch the locked rows may have been those of another member
            acquire.setWriteBlocked(
                    lockWait && batch.members().size() == 1 && acquire.isClaimed());
            if (unknown && acquire.isClaimed()) {
                acquire.setOutcomeUnknown(true);
            } else if (!acquire.isOutcomeUnknown()) {
                acquire.unclaim();
            }
            if (!acquire.isInBatch()) {
                continue;
            }
            if (acquire.isAbandoned()) {
                decideAndUndo(acquire, reported);
            } else if (mayAwaitIds.contains(acquire)) {
                externalIdLocked(acquire, batch, reported);
            } else if (!mayAwaitIds.isEmpty()) {
                tryAgain(acquire);
            } else {
                settleFailed(acquire, batch, failure, reported, unreachable);
            }
        }
    }

    private static RuntimeException reported(Throwable failure) {
        Throwable cause = failure instanceof CommitOutcomeUnknownException commit ? commit.translatedCause() : failure;
        return cause instanceof RuntimeException exception
                ? exception
                : new IllegalStateException("A grant failed: " + failure, failure);
    }

    private void settleFailed(
            Acquire acquire,
            AcquireBatch batch,
            Throwable failure,
            RuntimeException reported,
            boolean unreachable) {
        acquire.setExternalIdLocked(false);
        boolean shared = batch.members().size() > 1;
        boolean conflict = SqlErrors.isVictim(failure);
        boolean mayBeCausedByAnother = shared && !unreachable;
        if (SqlErrors.isLockWait(failure) && (batch.isWaiting() || !shared)) {
            rowLocked(acquire, batch, reported);
        } else if ((conflict || !mayBeCausedByAnother)
                && isWorthAnotherAttempt(acquire, reported, failure, unreachable)) {
            if (conflict && !acquire.hasWaitTime() && acquire.attempts() >= limits.maxAttempts()) {
                acquire.isolate();
            }
            pauseAndTryAgain(
                    acquire, conflict ? Duration.ZERO : BackOff.RETRIES.after(acquire.attempts(), clock::random));
        } else if (mayBeCausedByAnother) {
            acquire.isolate();
            tryAgain(acquire);
        } else {
            fail(acquire, reported);
        }
    }

    private boolean isWorthAnotherAttempt(
            Acquire acquire, RuntimeException reported, Throwable failure, boolean unreachable) {
        int attempts = acquire.failed(reported);
        boolean waits = acquire.isWillingToWait() && !clock.isPassed(acquire.deadline());
        if (SqlErrors.isVictim(failure)) { // until AcquireDeadlines ends the acquire
            return waits || limits.maxAttempts() > 1;
        }
        long elapsed = clock.now() - acquire.queuedAt();
        return (waits && unreachable)
                || RetryLimit.remain(failure, attempts, limits.maxAttempts(), elapsed, Duration.ZERO);
    }

    /** Whether the maximum time to wait for row locks, over all attempts, has not passed since the wait for permits ended. */
    private boolean isInTime(Acquire acquire) {
        return !acquire.isWaitOver()
                || !clock.isPassed(Deadline.after(acquire.deadline().nanos(), limits.lockWait()));
    }

    private void pauseAndTryAgain(Acquire acquire, Duration pause) {
        acquire.pauseUntil(clock.in(pause));
        tryAgain(acquire);
    }

    /** A caller that is answered by a failure undoes what may be granted; for an abandoned acquire the granter does. */
    private void decideAndUndo(Acquire acquire, RuntimeException failure) {
        if (acquire.isAbandoned() && acquire.isOutcomeUnknown()) {
            toUndo.add(acquire);
        }
        fail(acquire, failure);
    }

    private void tryAgain(Acquire acquire) {
        if (acquire.isAbandoned()) {
            decideAndUndo(acquire, new CancellationException("The acquire was abandoned by its caller"));
        } else if (closed && !acquire.isOutcomeUnknown()) {
            fail(acquire, new SemaphoreClosedException());
        } else {
            ready.add(acquire);
        }
    }

    /** Answers all members after an unexpected error, so that none waits indefinitely. What may be granted has to be undone. */
    void giveUp(AcquireBatch batch, Throwable unexpected) {
        batch.members().stream().filter(Acquire::isInBatch).forEach(acquire -> {
            if (acquire.isClaimed()) {
                acquire.setOutcomeUnknown(true);
            }
            decideAndUndo(acquire, new IllegalStateException("A grant failed: " + unexpected, unexpected));
        });
    }
}
