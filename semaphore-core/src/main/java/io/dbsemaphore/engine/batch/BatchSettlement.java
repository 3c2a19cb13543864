package io.dbsemaphore.engine.batch;

import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.PartialReleaseException;
import io.dbsemaphore.engine.batch.GrantQueue.Batch;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.engine.support.RetryLimit;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.persistence.unit.CommitOutcomeUnknownException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.springframework.dao.CannotAcquireLockException;

/**
 * What becomes of the members of a batch that has ended: each is answered, waits for permits, or is queued again. A batch that
 * fails is bisected into its members, so that only the caller whose acquire causes a failure sees it. After a
 * {@linkplain ConflictBackOff conflict} it is tried again as a whole: bisected, it would conflict more often and do less.
 * Guarded by the lock of the {@link GrantQueue}.
 */
final class BatchSettlement {

    private final ReadyQueue ready;
    private final WaitQueues waitQueues;
    private final Contention contention;
    private final BatchLimits limits;
    private final boolean closed;
    private final QueueClock clock;
    private final List<AcquireState> toUndo = new ArrayList<>();

    /**
     * Begins to settle one batch.
     *
     * @param closed whether nothing is to be tried again
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

    /** What was granted although its caller is gone, or may have been: to be undone once the lock is released. */
    List<AcquireState> toUndo() {
        return toUndo;
    }

    /** The batch was committed with these outcomes, in the order of its members. */
    void committed(Batch batch, List<GrantOutcome> outcomes, long epoch) {
        for (int i = 0; i < outcomes.size(); i++) {
            QueuedAcquire acquire = batch.members().get(i);
            if (acquire.isInBatch()) {
                settle(acquire, new BatchingGranter.Answer(outcomes.get(i), batch.begunAt(), epoch));
            }
        }
    }

    private void settle(QueuedAcquire acquire, BatchingGranter.Answer answer) {
        GrantOutcome outcome = answer.outcome();
        AcquireState state = acquire.state();
        if (outcome instanceof GrantOutcome.Postponed postponed) {
            postpone(acquire, postponed.name());
            return;
        }
        state.setOutcomeUnknown(false);
        if (outcome instanceof GrantOutcome.Granted) {
            if (acquire.isAbandoned()) {
                toUndo.add(state);
            }
            acquire.decide(answer);
            return;
        }
        state.unclaim();
        if (outcome instanceof GrantOutcome.Refused refused) {
            state.countRefusal();
            acquire.refused(refused.shortages());
            waitQueues.refused(refused.shortages());
            acquire.setBlockedBy(null);
            acquire.setPostponedUntil(null);
            if (state.isWillingToWait() && !acquire.isAbandoned()) {
                park(acquire);
                return;
            }
        }
        acquire.decide(answer);
    }

    private void park(QueuedAcquire acquire) {
        if (closed) {
            acquire.decide(new SemaphoreClosedException());
        } else {
            acquire.moveTo(QueuedAcquire.Place.WAIT_QUEUE);
            waitQueues.park(acquire);
        }
    }

    /** Another transaction has locked a row. It may be waited for in another batch, or looked at again, but not for ever. */
    private void postpone(QueuedAcquire acquire, String name) {
        acquire.state().unclaim();
        boolean again = acquire.blockedBy() != null;
        acquire.setBlockedBy(name);
        contention.contested();
        Deadline until = acquire.postponedUntil();
        if (until == null) {
            acquire.setPostponedUntil(clock.in(limits.lockWait()));
        } else if (clock.isPassed(until)) {
            acquire.setPostponedUntil(null);
            CannotAcquireLockException failure =
                    new CannotAcquireLockException("A row of the semaphores %s was locked by another transaction for %s"
                            .formatted(acquire.names(), limits.lockWait()));
            if (acquire.failed(failure) >= limits.maxAttempts() || !isInTime(acquire)) {
                acquire.decide(failure);
                return;
            }
        }
        // one that was not postponed before may wait for the row at once
        pauseAndTryAgain(acquire, again ? Duration.ofMillis(2 + clock.random(18)) : Duration.ZERO);
    }

    /**
     * The transaction of the batch has failed.
     *
     * @param reached whether there was a connection for it
     */
    void failed(Batch batch, Throwable failure, boolean reached) {
        if (failure instanceof PartialReleaseException) { // no member is the reason
            batch.members().stream().filter(QueuedAcquire::isInBatch).forEach(this::again);
            return;
        }
        boolean unknown = failure instanceof CommitOutcomeUnknownException;
        boolean unreachable = !reached || unknown || SemaphorePersistence.isUnreachable(failure);
        RuntimeException shown = shown(failure);
        for (QueuedAcquire acquire : batch.members()) {
            if (unknown && acquire.state().isClaimed()) {
                acquire.state().setOutcomeUnknown(true);
            } else if (!acquire.state().isOutcomeUnknown()) {
                acquire.state().unclaim();
            }
            if (acquire.isInBatch()) {
                settleFailed(acquire, batch.members().size() > 1, failure, shown, unreachable);
            }
        }
    }

    private static RuntimeException shown(Throwable failure) {
        if (failure instanceof CommitOutcomeUnknownException commit) {
            return commit.translatedCause();
        }
        return failure instanceof RuntimeException exception
                ? exception
                : new IllegalStateException("A grant failed: " + failure, failure);
    }

    private void settleFailed(
            QueuedAcquire acquire, boolean shared, Throwable failure, RuntimeException shown, boolean unreachable) {
        boolean conflict = SqlErrors.isVictim(failure);
        boolean mayBeOthersFault = shared && !unreachable;
        if (acquire.isAbandoned()) {
            if (acquire.state().isOutcomeUnknown()) {
                toUndo.add(acquire.state());
            }
            acquire.decide(shown);
        } else if ((conflict || !mayBeOthersFault) && isWorthAnother(acquire, shown, failure, unreachable)) {
            pauseAndTryAgain(
                    acquire, conflict ? Duration.ZERO : RetryLimit.pauseAfter(acquire.attempts(), clock::random));
        } else if (mayBeOthersFault) {
            acquire.isolate();
            again(acquire);
        } else {
            acquire.decide(shown);
        }
    }

    private boolean isWorthAnother(
            QueuedAcquire acquire, RuntimeException shown, Throwable failure, boolean unreachable) {
        boolean worthIt =
                RetryLimit.remain(failure, acquire.failed(shown), limits.maxAttempts(), clock.now() - acquire.begunAt())
                        && (!SqlErrors.isLockWait(failure) || isInTime(acquire));
        boolean waits = acquire.state().isWillingToWait() && !clock.isPassed(acquire.deadline());
        return worthIt || (waits && (unreachable || SqlErrors.isVictim(failure)));
    }

    /** Whether a row may be waited for, in all attempts taken together, although its caller does not wait for permits. */
    private boolean isInTime(QueuedAcquire acquire) {
        return !acquire.isWaitOver()
                || !clock.isPassed(Deadline.after(acquire.deadline().nanos(), limits.lockWait()));
    }

    private void pauseAndTryAgain(QueuedAcquire acquire, Duration pause) {
        acquire.pauseUntil(clock.in(pause));
        again(acquire);
    }

    private void again(QueuedAcquire acquire) {
        if (closed && !acquire.state().isOutcomeUnknown()) {
            acquire.decide(new SemaphoreClosedException());
        } else {
            acquire.moveTo(QueuedAcquire.Place.QUEUE);
            ready.add(acquire);
        }
    }

    /** Something unforeseen went wrong here: no caller may wait for ever. What may have been granted has to be undone. */
    static void giveUp(Batch batch, Throwable unforeseen) {
        batch.members().stream().filter(QueuedAcquire::isInBatch).forEach(acquire -> {
            if (acquire.state().isClaimed()) {
                acquire.state().setOutcomeUnknown(true);
            }
            acquire.decide(new IllegalStateException("A grant failed: " + unforeseen, unforeseen));
        });
    }
}
