package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.persistence.GrantOrder;
import io.dbsemaphore.persistence.GrantOutcome;
import io.dbsemaphore.persistence.LevelTransactions;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.springframework.dao.QueryTimeoutException;

/**
 * Grants the orders of all callers together: a caller hands in his order and waits, without a connection; one thread takes
 * all that has gathered and grants it in one transaction. A lone caller waits for nobody; where many ask again and again, a
 * round may wait for a moment for those {@linkplain Regulars whom the last one served}.
 *
 * <p>The idea is that of group commit in databases and of flat combining (Hendler, Incze, Shavit and Tzafrir, 2010).
 */
final class GatheredGrants implements Grants {

    /** How long after his deadline a caller's last try may take to begin to write. */
    private static final Duration UNDECIDED = Duration.ofMillis(200);

    /** How long after it he is told that the outcome is unknown, where the database does not answer what is written. */
    private static final Duration UNKNOWN = Duration.ofMillis(480);

    /** How long a round waits for those whom the last one served, at most. */
    private static final Duration GATHERING = Duration.ofMillis(1);

    private final GrantBoard board;
    private final BackgroundReleases background;
    private final Duration patience;
    private final boolean batching;
    private final LineWatch watch;
    private final Regulars regulars = new Regulars(GATHERING);
    private final Lanes lanes;

    GatheredGrants(
            GrantAttempt attempt,
            LevelTransactions levels,
            GatheredReleases releases,
            BackgroundReleases background,
            DaemonThreads threads,
            int atOnce,
            int maxBatchSize,
            int maxAttempts,
            Duration lockWait) {
        this.background = background;
        batching = maxBatchSize > 1;
        this.patience = lockWait.multipliedBy(maxAttempts).plusSeconds(1);
        // all but one may be held up by rows that others have locked
        board = new GrantBoard(Math.max(1, atOnce - 1), maxBatchSize);
        watch = new LineWatch(board.waiters(), levels, threads, this::signal);
        lanes = new Lanes(
                threads,
                "semaphore-grants",
                atOnce,
                new GrantRounds(board, attempt, releases, background, watch, regulars, maxAttempts, lockWait));
    }

    @Override
    public Answer grant(GrantOrder order, Wait wait) {
        if (Thread.currentThread().isInterrupted()) {
            throw new AcquireInterruptedException(order.permits().keySet());
        }
        order.setPatient(wait.patient());
        PendingGrant pending = new PendingGrant(order, wait.deadline());
        board.add(pending);
        regulars.come();
        // a round of his own he could not leave at his deadline
        if (wait.patient() || board.hasCompany() || !lanes.help()) {
            signal();
        }
        try {
            return wait.patient() ? awaitDeadline(pending) : awaitTry(pending);
        } catch (InterruptedException interrupt) {
            try {
                return afterInterrupt(pending);
            } finally {
                Thread.currentThread().interrupt();
            }
        }
    }

    private Answer awaitDeadline(PendingGrant pending) throws InterruptedException {
        if (!isAnswered(pending, pending.deadline().remainingNanos())) {
            if (!board.tryLast(pending)) {
                return result(pending);
            }
            signal();
            if (!isAnswered(pending, pending.deadline().remainingNanos() + UNDECIDED.toNanos())
                    && !board.giveUp(pending, () -> {})
                    && !isAnswered(pending, pending.deadline().remainingNanos() + UNKNOWN.toNanos())
                    && !board.giveUp(pending, pending::abandon)
                    && pending.isAbandoned()) {
                throw new AcquireOutcomeUnknownException(pending.order().externalId(), noAnswer(pending));
            }
        }
        return result(pending);
    }

    private Answer awaitTry(PendingGrant pending) throws InterruptedException {
        if (!isAnswered(pending, patience.toNanos()) && !board.giveUp(pending, () -> {})) {
            return result(pending); // it is being written; that ends by the limits of the session
        }
        return result(pending);
    }

    /** Nothing was decided yet, or it is too late to end it. */
    private Answer afterInterrupt(PendingGrant pending) {
        if (!pending.order().isFateUnknown()
                && board.giveUp(pending, () -> {})
                && !pending.order().isFateUnknown()) {
            throw new AcquireInterruptedException(pending.names());
        }
        return result(pending);
    }

    private static boolean isAnswered(PendingGrant pending, long nanos) throws InterruptedException {
        try {
            Answer unused = pending.answer().get(Math.max(0, nanos), TimeUnit.NANOSECONDS);
            return true;
        } catch (ExecutionException failure) {
            return true;
        } catch (TimeoutException notYet) {
            return false;
        }
    }

    /** The answer; where the order was given up, what is known instead. */
    private Answer result(PendingGrant pending) {
        if (pending.isGivenUp()) {
            if (pending.order().isFateUnknown()) {
                background.undo(pending.order());
                throw new AcquireOutcomeUnknownException(pending.order().externalId(), noAnswer(pending));
            }
            if (!pending.lastShortages().isEmpty()) {
                return new Answer(new GrantOutcome.Refused(pending.lastShortages()), System.nanoTime(), 0);
            }
            throw noAnswer(pending);
        }
        try {
            return pending.answer().join();
        } catch (CompletionException failure) {
            throw CallerFailures.of(failure.getCause());
        }
    }

    private static RuntimeException noAnswer(PendingGrant pending) {
        RuntimeException last = pending.lastFailure();
        return last != null
                ? CallerFailures.of(last)
                : new QueryTimeoutException("The database did not decide in time about permits of " + pending.names()
                        + ": no connection could be had, or it does not answer. Nothing is held");
    }

    @Override
    public boolean takesAlong(Set<String> names) {
        return board.takesReleases(names) && batching && lanes.areSeveral();
    }

    @Override
    public void releasing(Map<String, Integer> permits) {
        boolean unused = board.released(permits);
        regulars.come();
        signal();
    }

    @Override
    public void released(Map<String, Integer> permits) {
        if (board.released(permits)) {
            signal();
        }
        if (board.waiters().nanosToPauseEnd() < Long.MAX_VALUE) {
            watch.reconsider();
        }
    }

    @Override
    public void lookAgain() {
        watch.lookNow();
    }

    @Override
    public void close() {
        board.close().forEach(pending -> pending.answer().completeExceptionally(new SemaphoreClosedException()));
        watch.close();
        lanes.close();
    }

    private void signal() {
        lanes.signal();
    }
}
