package io.dbsemaphore.engine.batch;

import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.jdbc.SqlErrors;
import java.time.Duration;
import java.time.temporal.ChronoUnit;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.QueryTimeoutException;

/**
 * Applies the deadlines of acquires, on the scheduler. When the wait time has ended, the acquire is tried once more. A caller that was
 * refused before is answered shortly after that, and so is a caller for which there is no connection, or whose row another transaction
 * has locked; another decision in flight is awaited for the decision timeout, also if a conflict with another transaction delays it. An
 * acquire without a wait time begins with the decision timeout.
 *
 * <p>An acquire that is being written ({@linkplain io.dbsemaphore.domain.AcquireState#claim claimed}) cannot be withdrawn. It is not tried
 * again, and the outcome of that attempt is its answer. If there is none half a second after the decision timeout, the caller is told that
 * the outcome is unknown, and a grant is undone.
 */
final class AcquireDeadlines {

    /** How long the last attempt may take to begin, and to end if the caller was refused before. */
    private static final Duration LAST_ATTEMPT = Duration.ofMillis(200);

    /** How long after its submission the first attempt of an acquire may begin, however short the wait time is. */
    private static final long FIRST_ATTEMPT = Duration.ofSeconds(1).toNanos();

    /** How long a decision that is being written is awaited after the decision timeout. */
    static final Duration BEING_WRITTEN = Duration.ofMillis(480);

    private static final long SOON = Duration.ofMillis(5).toNanos();

    /** Before the first deadline of an acquire that does not wait. */
    private static final long TICK = LAST_ATTEMPT.toNanos() / 2;

    private final WorkQueue queue;
    private final BackgroundReleaser background;
    private final Duration decisionTimeout;
    private final Runnable onChange;
    private final ScheduledExecutorService scheduler;
    private final AtomicBoolean ticking = new AtomicBoolean();
    private volatile boolean isUsed;

    /**
     * Creates it without deadlines.
     *
     * @param onChange runs when there may be acquires to be tried, or a caller no longer waits
     */
    AcquireDeadlines(
            WorkQueue queue,
            BackgroundReleaser background,
            Duration decisionTimeout,
            Runnable onChange,
            ScheduledExecutorService scheduler) {
        this.queue = queue;
        this.background = background;
        this.decisionTimeout = decisionTimeout;
        this.onChange = onChange;
        this.scheduler = scheduler;
    }

    /** Applies the deadlines of an acquire, now and when they have passed. */
    void schedule(Acquire acquire) {
        try {
            long nanos = advance(acquire);
            if (nanos > 0) {
                isUsed = true;
                tick();
                ScheduledFuture<?> next = scheduler.schedule(() -> schedule(acquire), nanos, TimeUnit.NANOSECONDS);
                CompletableFuture<?> unused = acquire.answer().whenComplete((answer, failure) -> next.cancel(false));
            }
        } catch (RejectedExecutionException stopped) {
            end(acquire);
        }
    }

    /**
     * Keeps a task in front of the deadlines while there are acquires: a task that is scheduled as the first one wakes the scheduler, and
     * nearly all acquires are answered long before their deadlines.
     */
    private void tick() {
        if (isUsed && ticking.compareAndSet(false, true)) {
            isUsed = false;
            ScheduledFuture<?> unused = scheduler.schedule(
                    () -> {
                        ticking.set(false);
                        tick();
                    },
                    TICK,
                    TimeUnit.NANOSECONDS);
        }
    }

    /**
     * Ends the wait of a caller that no longer wants the permits.
     *
     * @return true when nothing was decided, and nothing is held; otherwise an answer follows
     */
    boolean cancel(Acquire acquire) {
        boolean unknown = acquire.isOutcomeUnknown();
        acquire.endWait();
        if (unknown) { // the outcome is determined first
            queue.tryOnceMore(acquire);
            onChange.run();
            return false;
        }
        if (!queue.cancel(acquire)) {
            return false;
        }
        if (acquire.isOutcomeUnknown()) {
            answer(acquire);
            return false;
        }
        onChange.run();
        acquire.answer().completeExceptionally(new CancellationException());
        return true;
    }

    /**
     * Applies the deadlines that have passed.
     *
     * @return the nanoseconds until the next deadline; 0 when the acquire is answered
     */
    private long advance(Acquire acquire) {
        if (acquire.answer().isDone()) {
            return 0;
        }
        if (!acquire.isWaitOver()) {
            if (!acquire.deadline().isPassed()) {
                return acquire.deadline().remainingNanos();
            }
            acquire.endWait();
            queue.tryOnceMore(acquire);
            onChange.run();
        }
        if (!after(acquire, LAST_ATTEMPT).isPassed()) {
            return after(acquire, LAST_ATTEMPT).remainingNanos();
        }
        Deadline decided = after(acquire, decisionTimeout);
        return decided.isPassed() || (acquire.hasWaitTime() && !isWorthWaiting(acquire))
                ? cancelOrAwait(acquire)
                : Math.min(decided.remainingNanos(), LAST_ATTEMPT.toNanos());
    }

    /**
     * Whether there is no answer of the database from an earlier attempt, and a decision is in flight, or may still begin, since the
     * wait time gave it no time, or little time, to begin. A conflict is no answer: the next attempt may succeed. Neither is a commit whose
     * answer was lost: the next attempt finds the outcome.
     */
    private boolean isWorthWaiting(Acquire acquire) {
        if (acquire.isOutcomeUnknown() && acquire.attempts() <= 1) {
            return true;
        }
        RuntimeException last = acquire.lastFailure();
        boolean conflict = last != null && SqlErrors.isVictim(last);
        boolean isAnswerKnown = acquire.isAnswered() || (last != null && !conflict);
        boolean mayBeFirstAttempt = System.nanoTime() - acquire.queuedAt() < FIRST_ATTEMPT;
        return !isAnswerKnown
                && (mayBeFirstAttempt || (acquire.postponedUntil() == null && (conflict || queue.isInFlight(acquire))));
    }

    /**
     * Cancels an acquire whose caller does not wait for a decision any longer.
     *
     * @return the nanoseconds to wait for the outcome of an attempt that is being written; 0 when the acquire is answered
     */
    private long cancelOrAwait(Acquire acquire) {
        if (queue.cancel(acquire)) {
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
    private void end(Acquire acquire) {
        if (queue.abandon(acquire)) {
            answer(acquire);
        } else if (acquire.isAbandoned()) {
            fail(acquire, new AcquireOutcomeUnknownException(acquire.command().externalId(), noAnswer(acquire)));
        }
    }

    private static Deadline after(Acquire acquire, Duration more) {
        return acquire.deadline().plus(more);
    }

    /** Answers an acquire that was given up, with the result of earlier attempts. */
    private void answer(Acquire acquire) {
        onChange.run();
        if (acquire.isOutcomeUnknown()) {
            var unused = background.undo(acquire);
            fail(acquire, new AcquireOutcomeUnknownException(acquire.command().externalId(), noAnswer(acquire)));
        } else if (!acquire.lastShortages().isEmpty()) {
            boolean unused = acquire.answer()
                    .complete(new Acquire.Answer(
                            new GrantOutcome.Refused(acquire.lastShortages()), System.nanoTime(), 0));
        } else {
            fail(acquire, noAnswer(acquire));
        }
    }

    private static void fail(Acquire acquire, RuntimeException failure) {
        boolean unused = acquire.answer().completeExceptionally(failure);
    }

    private RuntimeException noAnswer(Acquire acquire) {
        RuntimeException last = acquire.lastFailure();
        if (last != null) {
            return last;
        }
        Duration passed =
                Duration.ofNanos(System.nanoTime() - acquire.call().startedAt()).truncatedTo(ChronoUnit.MILLIS);
        return acquire.isBlockedByRow() || acquire.isExternalIdLocked()
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
