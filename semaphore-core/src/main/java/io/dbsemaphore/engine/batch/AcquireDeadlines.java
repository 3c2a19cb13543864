package io.dbsemaphore.engine.batch;

import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.QueryTimeoutException;

/**
 * What becomes of a queued acquire as time passes, whether a thread waits for it or a timer watches it. When the wait time is
 * over, the acquire is tried once more. A caller that was refused before has its answer soon after that, and so has one for
 * which no connection can be had; a decision that is under way is awaited for the decision timeout. An acquire without a wait
 * time begins with that.
 */
final class AcquireDeadlines {

    /** How long the last try may take to begin, and to end where the caller has been refused before. */
    private static final Duration LAST_TRY = Duration.ofMillis(200);

    /** How long after the decision timeout a decision is awaited that is being written. */
    private static final Duration BEING_WRITTEN = Duration.ofMillis(480);

    private static final long SOON = Duration.ofMillis(5).toNanos();

    private final GrantQueue queue;
    private final BackgroundReleaser background;
    private final Duration decisionTimeout;
    private final Runnable queued;

    /**
     * Makes them.
     *
     * @param queued runs when acquires may be there to be tried
     */
    AcquireDeadlines(GrantQueue queue, BackgroundReleaser background, Duration decisionTimeout, Runnable queued) {
        this.queue = queue;
        this.background = background;
        this.decisionTimeout = decisionTimeout;
        this.queued = queued;
    }

    /** Does what is due. Returns how long until something else is, in nanoseconds; 0 when the acquire has its answer. */
    long advance(QueuedAcquire pending) {
        if (pending.answer().isDone()) {
            return 0;
        }
        if (!pending.isWaitOver()) {
            if (!pending.deadline().isPassed()) {
                return pending.deadline().remainingNanos();
            }
            pending.endWait();
            if (!queue.tryLast(pending)) {
                answer(pending);
                return 0;
            }
            queued.run();
        }
        if (!after(pending, LAST_TRY).isPassed()) {
            return after(pending, LAST_TRY).remainingNanos();
        }
        Deadline decided = after(pending, decisionTimeout);
        return isAnswerKnown(pending) || decided.isPassed() || !isWorthWaiting(pending)
                ? giveUp(pending)
                : Math.min(decided.remainingNanos(), LAST_TRY.toNanos());
    }

    /** Whether a decision is under way, or may begin yet, since a caller without a wait time gave it no time to begin. */
    private boolean isWorthWaiting(QueuedAcquire pending) {
        return !pending.hasWaitTime() || queue.isUnderWay(pending);
    }

    /** Whether its caller can be told something that is true, also where the database does not answer in time. */
    private static boolean isAnswerKnown(QueuedAcquire pending) {
        return pending.hasWaitTime() && (!pending.lastShortages().isEmpty() || pending.lastFailure() != null);
    }

    private long giveUp(QueuedAcquire pending) {
        if (queue.giveUp(pending)) {
            answer(pending);
            return 0;
        }
        Deadline written = after(pending, decisionTimeout.plus(BEING_WRITTEN));
        if (!written.isPassed()) {
            return written.remainingNanos();
        }
        end(pending);
        return pending.answer().isDone() ? 0 : SOON; // decided, and about to be told
    }

    /** Ends it now: what is being written for it is undone by those who decide. */
    void end(QueuedAcquire pending) {
        if (queue.abandon(pending)) {
            answer(pending);
        } else if (pending.isAbandoned()) {
            fail(pending, new AcquireOutcomeUnknownException(pending.command().externalId(), noAnswer(pending)));
        }
    }

    private static Deadline after(QueuedAcquire pending, Duration more) {
        return Deadline.after(pending.deadline().nanos(), more);
    }

    /** Answers an acquire that has been given up by what is known of it. */
    void answer(QueuedAcquire pending) {
        if (pending.hasMadeWay()) {
            queued.run();
        }
        if (pending.state().isOutcomeUnknown()) {
            background.undo(pending.state());
            fail(pending, new AcquireOutcomeUnknownException(pending.command().externalId(), noAnswer(pending)));
        } else if (!pending.lastShortages().isEmpty()) {
            boolean unused = pending.answer()
                    .complete(new BatchingGranter.Answer(
                            new GrantOutcome.Refused(pending.lastShortages()), System.nanoTime(), 0));
        } else {
            fail(pending, noAnswer(pending));
        }
    }

    private static void fail(QueuedAcquire pending, RuntimeException failure) {
        boolean unused = pending.answer().completeExceptionally(failure);
    }

    private RuntimeException noAnswer(QueuedAcquire pending) {
        RuntimeException last = pending.lastFailure();
        if (last != null) {
            return last;
        }
        return pending.isBlockedByRow()
                ? new CannotAcquireLockException(
                        "A row of the semaphores %s was locked by another transaction for %s. Nothing is held"
                                .formatted(pending.names(), decisionTimeout))
                : new QueryTimeoutException(
                        "The database did not decide within %s (semaphore.decision-timeout) about permits of %s: no connection could be had, or it does not answer. Nothing is held"
                                .formatted(decisionTimeout, pending.names()));
    }
}
