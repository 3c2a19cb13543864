package io.dbsemaphore.engine.batch;

import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.domain.Attempt;
import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.springframework.dao.QueryTimeoutException;

/**
 * Applies the deadlines of acquires, on the scheduler. When the wait time ends, the acquire is tried once more. The caller gets that answer
 * if it comes within 200 ms, and otherwise the last refusal, or the failure that no connection was available or that a row was locked. Only
 * a first decision in flight is awaited longer, up to the decision timeout, even if conflicts delay it. An acquire without a wait time has
 * only the decision timeout, counted from the call.
 *
 * <p>An acquire that is being written ({@linkplain io.dbsemaphore.domain.AcquireState#claim claimed}) cannot be withdrawn. The outcome of
 * that attempt is its answer. After a lost commit, another attempt finds the outcome. If there is no outcome half a second after the
 * decision timeout, the caller is told that it is unknown, and a late grant is undone.
 */
final class AcquireDeadlines {

    /** How long the last attempt after the wait time is awaited, repeatedly while that {@linkplain #isWorthWaiting is useful}. */
    private static final Duration LAST_ATTEMPT = Duration.ofMillis(200);

    /** How long after its submission an acquire may have its first attempt, however short the wait time is. */
    private static final long FIRST_ATTEMPT = Duration.ofSeconds(1).toNanos();

    /** How long a decision that is being written is awaited after the decision timeout. {@link Settlement} relies on it. */
    static final Duration BEING_WRITTEN = Duration.ofMillis(480);

    private static final long SOON = Duration.ofMillis(5).toNanos();

    /** Shorter than nearly all deadlines. */
    static final long TICK = LAST_ATTEMPT.toNanos() / 2;

    private final WorkQueue queue;
    private final BackgroundReleaser background;
    private final Duration decisionTimeout;
    private final Runnable onChange;
    private final ScheduledExecutorService scheduler;
    private final QueueClock clock;
    private final AtomicBoolean ticking = new AtomicBoolean();
    private volatile boolean isUsed;

    /**
     * Creates an instance without deadlines.
     *
     * @param onChange runs when there may be acquires to try, or a caller no longer waits
     */
    AcquireDeadlines(
            WorkQueue queue,
            BackgroundReleaser background,
            Duration decisionTimeout,
            Runnable onChange,
            ScheduledExecutorService scheduler,
            QueueClock clock) {
        this.queue = queue;
        this.background = background;
        this.decisionTimeout = decisionTimeout;
        this.onChange = onChange;
        this.scheduler = scheduler;
        this.clock = clock;
    }

    /** Applies the passed deadlines of an acquire, and schedules the next one. */
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
     * While there are acquires, keeps a task scheduled before their deadlines. A new first task wakes the scheduler, which is pointless for
     * a deadline: nearly all acquires are answered long before theirs.
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

    /** Ends the wait of a caller that no longer wants the permits. If the acquire cannot be withdrawn, its answer follows. */
    void cancel(Acquire acquire) {
        if (acquire.isOutcomeUnknown()) { // another attempt finds the outcome first
            queue.tryOnceMore(acquire);
            onChange.run();
        } else if (queue.cancel(acquire)) {
            if (acquire.isOutcomeUnknown()) {
                answer(acquire);
            } else {
                onChange.run();
                fail(acquire, new CancellationException());
            }
        }
        schedule(acquire);
    }

    /**
     * Applies the deadlines that have passed. Reads the clock once, so that none passes between two checks.
     *
     * @return the nanoseconds until the next deadline; 0 when the acquire is answered
     */
    private long advance(Acquire acquire) {
        if (acquire.answer().isDone()) {
            return 0;
        }
        long now = clock.now();
        if (acquire.isWillingToWait()) {
            if (acquire.deadline().remainingNanos(now) > 0) {
                return acquire.deadline().remainingNanos(now);
            }
            queue.tryOnceMore(acquire);
            onChange.run();
        }
        long toDecide = toWait(acquire, decisionTimeout, now);
        long toWait = acquire.hasWaitTime() ? toWait(acquire, LAST_ATTEMPT, now) : toDecide;
        if (toWait > 0) {
            return toWait;
        }
        return toDecide <= 0 || !isWorthWaiting(acquire, now)
                ? cancelOrAwait(acquire, now)
                : Math.min(toDecide, LAST_ATTEMPT.toNanos());
    }

    /**
     * Whether to wait longer: the database has not answered yet, and an attempt is in flight, or may still begin because the wait time
     * was short. Neither a conflict nor a lost commit is an answer: the next attempt may succeed, or find the outcome.
     */
    private boolean isWorthWaiting(Acquire acquire, long now) {
        Attempt attempt = acquire.attempt();
        if (attempt.isOutcomeToBeFound()) {
            return true;
        }
        boolean conflict = attempt.isConflict();
        boolean isAnswerKnown = attempt.isRefused() || (attempt.failure() != null && !conflict);
        boolean mayBeFirstAttempt = now - acquire.queuedAt() < FIRST_ATTEMPT;
        return !isAnswerKnown
                && (mayBeFirstAttempt || (acquire.postponedUntil() == null && (conflict || queue.isInFlight(acquire))));
    }

    /**
     * Cancels an acquire whose caller no longer waits for a decision.
     *
     * @return the nanoseconds to wait for the outcome of an attempt that is being written; 0 when the acquire is answered
     */
    private long cancelOrAwait(Acquire acquire, long now) {
        if (queue.cancel(acquire)) {
            answer(acquire);
            return 0;
        }
        long toWrite = toWait(acquire, decisionTimeout.plus(BEING_WRITTEN), now);
        if (toWrite > 0) {
            return toWrite;
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

    /** The nanoseconds until this long after the end of the wait. */
    private static long toWait(Acquire acquire, Duration afterwards, long now) {
        return acquire.deadline().plus(afterwards).remainingNanos(now);
    }

    /** Answers a cancelled acquire, with the result of earlier attempts. */
    private void answer(Acquire acquire) {
        onChange.run();
        Acquire.Answer refusal = acquire.lastRefusal();
        if (acquire.isOutcomeUnknown()) {
            var unused = background.undo(acquire);
            fail(acquire, new AcquireOutcomeUnknownException(acquire.command().externalId(), noAnswer(acquire)));
        } else if (refusal != null) {
            boolean unused = acquire.answer().complete(refusal);
        } else {
            fail(acquire, noAnswer(acquire));
        }
    }

    private static void fail(Acquire acquire, RuntimeException failure) {
        boolean unused = acquire.answer().completeExceptionally(failure);
    }

    private RuntimeException noAnswer(Acquire acquire) {
        RuntimeException last = acquire.attempt().failure();
        if (last != null) {
            return last;
        }
        if (acquire.isLocked()) {
            return acquire.locked(null);
        }
        Duration triedFor = acquire.triedFor();
        String why = triedFor.compareTo(decisionTimeout.dividedBy(2)) < 0
                ? "Permits of %s were first tried for %d ms before the end of the wait: until then this JVM was suspended"
                        + " (a virtual machine, a container, a long garbage collection) or had no free thread. %s"
                : "No answer from the database about permits of %s within %d ms (semaphore.jdbc.decision-timeout is "
                        + decisionTimeout
                        + "): the pool had no free connection, or the server did not respond. %s";
        return new QueryTimeoutException(
                why.formatted(acquire.command().permits().keySet(), triedFor.toMillis(), acquire.consequence()));
    }
}
