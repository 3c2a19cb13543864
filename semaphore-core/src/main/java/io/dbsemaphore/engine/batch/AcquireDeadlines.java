package io.dbsemaphore.engine.batch;

import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.jdbc.SqlErrors;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.QueryTimeoutException;

/**
 * Applies deadlines to queued acquires, whether a thread waits for the answer or a timer. When the wait time has ended, the
 * acquire is tried once more. A caller that was refused before is answered shortly after that, and so is a caller for which
 * there is no connection, or whose row another transaction has locked; another decision in flight is awaited for the decision
 * timeout, also if a conflict with another transaction delays it. An acquire without a wait time begins with the decision timeout.
 */
final class AcquireDeadlines {

    /** How long the last attempt may take to begin, and to end if the caller was refused before. */
    private static final Duration LAST_ATTEMPT = Duration.ofMillis(200);

    /** How long after its submission the first attempt of an acquire may begin, however short the wait time is. */
    private static final long FIRST_ATTEMPT = Duration.ofSeconds(1).toNanos();

    /** How long a decision that is being written is awaited after the decision timeout. */
    private static final Duration BEING_WRITTEN = Duration.ofMillis(480);

    private static final long SOON = Duration.ofMillis(5).toNanos();

    private final GrantQueue queue;
    private final BackgroundReleaser background;
    private final Duration decisionTimeout;
    private final Runnable queued;
    private final Runnable onDeparture;

    /**
     * Creates it without deadlines.
     *
     * @param queued runs when there may be acquires to be tried
     * @param onDeparture runs when a caller no longer waits
     */
    AcquireDeadlines(
            GrantQueue queue,
            BackgroundReleaser background,
            Duration decisionTimeout,
            Runnable queued,
            Runnable onDeparture) {
        this.queue = queue;
        this.background = background;
        this.decisionTimeout = decisionTimeout;
        this.queued = queued;
        this.onDeparture = onDeparture;
    }

    /**
     * Applies the deadlines that have passed.
     *
     * @return the nanoseconds until the next deadline; 0 when the acquire is answered
     */
    long advance(QueuedAcquire acquire) {
        if (acquire.answer().isDone()) {
            return 0;
        }
        if (!acquire.isWaitOver()) {
            if (!acquire.deadline().isPassed()) {
                return acquire.deadline().remainingNanos();
            }
            acquire.endWait();
            if (!queue.tryOnceMore(acquire)) {
                answer(acquire);
                return 0;
            }
            queued.run();
        }
        if (!after(acquire, LAST_ATTEMPT).isPassed()) {
            return after(acquire, LAST_ATTEMPT).remainingNanos();
        }
        Deadline decided = after(acquire, decisionTimeout);
        return isAnswerKnown(acquire) || decided.isPassed() || !isWorthWaiting(acquire)
                ? giveUp(acquire)
                : Math.min(decided.remainingNanos(), LAST_ATTEMPT.toNanos());
    }

    /** Whether a decision is in flight, or may still begin, since the wait time gave it no time, or little time, to begin. */
    private boolean isWorthWaiting(QueuedAcquire acquire) {
        return !acquire.hasWaitTime()
                || queue.isInFlight(acquire)
                || isConflict(acquire.lastFailure())
                || mayBeFirstAttempt(acquire);
    }

    /** Whether there is an answer of the database from an earlier attempt. A conflict is none: the next attempt may succeed. */
    private boolean isAnswerKnown(QueuedAcquire acquire) {
        RuntimeException last = acquire.lastFailure();
        return acquire.hasWaitTime()
                && (!acquire.lastShortages().isEmpty()
                        || (last != null && !isConflict(last))
                        || (!mayBeFirstAttempt(acquire) && queue.isPostponed(acquire)));
    }

    private static boolean isConflict(@Nullable RuntimeException failure) {
        return failure != null && SqlErrors.isVictim(failure);
    }

    private static boolean mayBeFirstAttempt(QueuedAcquire acquire) {
        return System.nanoTime() - acquire.startedAt() < FIRST_ATTEMPT;
    }

    private long giveUp(QueuedAcquire acquire) {
        if (queue.giveUp(acquire)) {
            answer(acquire);
            return 0;
        }
        Deadline written = after(acquire, decisionTimeout.plus(BEING_WRITTEN));
        if (!written.isPassed()) {
            return written.remainingNanos();
        }
        end(acquire);
        return acquire.answer().isDone() ? 0 : SOON; // decided, and about to be answered
    }

    /** Ends an acquire now. A grant that is being written for it is undone by the thread that writes it. */
    void end(QueuedAcquire acquire) {
        if (queue.abandon(acquire)) {
            answer(acquire);
        } else if (acquire.isAbandoned()) {
            fail(acquire, new AcquireOutcomeUnknownException(acquire.command().externalId(), noAnswer(acquire)));
        }
    }

    private static Deadline after(QueuedAcquire acquire, Duration more) {
        return Deadline.after(acquire.deadline().nanos(), more);
    }

    /** Answers an acquire that was given up, with the result of earlier attempts. */
    void answer(QueuedAcquire acquire) {
        if (acquire.unblocksOthers()) {
            queued.run();
        }
        onDeparture.run();
        if (acquire.state().isOutcomeUnknown()) {
            background.undo(acquire.state());
            fail(acquire, new AcquireOutcomeUnknownException(acquire.command().externalId(), noAnswer(acquire)));
        } else if (!acquire.lastShortages().isEmpty()) {
            boolean unused = acquire.answer()
                    .complete(
                            new AcquireAnswer(new GrantOutcome.Refused(acquire.lastShortages()), System.nanoTime(), 0));
        } else {
            fail(acquire, noAnswer(acquire));
        }
    }

    /** A caller no longer waits: other acquires may be served now, and other instances have to be told. */
    void afterDeparture() {
        queued.run();
        onDeparture.run();
    }

    private static void fail(QueuedAcquire acquire, RuntimeException failure) {
        boolean unused = acquire.answer().completeExceptionally(failure);
    }

    private RuntimeException noAnswer(QueuedAcquire acquire) {
        RuntimeException last = acquire.lastFailure();
        if (last != null) {
            return last;
        }
        Duration passed =
                Duration.ofNanos(System.nanoTime() - acquire.startedAt()).truncatedTo(ChronoUnit.MILLIS);
        return acquire.isBlockedByRow() || acquire.state().isExternalIdLocked()
                ? new CannotAcquireLockException(
                        acquire.lockedFor(passed.compareTo(decisionTimeout) < 0 ? passed : decisionTimeout))
                : new QueryTimeoutException(
                        "The database has not decided about permits of %s for %d ms: no connection was available, or it does not answer (semaphore.decision-timeout is %s). %s"
                                .formatted(
                                        acquire.command().permits().keySet(),
                                        passed.toMillis(),
                                        decisionTimeout,
                                        acquire.consequence()));
    }
}
