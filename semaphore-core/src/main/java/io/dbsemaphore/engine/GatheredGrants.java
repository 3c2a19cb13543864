package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.persistence.GrantOrder;
import io.dbsemaphore.persistence.LevelTransactions;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/**
 * Grants the orders of all callers together: a caller hands in its order, and waits for the answer or goes on; one thread takes
 * all that has gathered and grants it in one transaction. A lone caller waits for nobody; where many ask again and again, a
 * round may wait for a moment for those {@linkplain Regulars whom the last one served}.
 *
 * <p>The idea is that of group commit in databases and of flat combining (Hendler, Incze, Shavit and Tzafrir, 2010).
 */
final class GatheredGrants implements Grants {

    /** How long a round waits for those whom the last one served, at most. */
    private static final Duration GATHERING = Duration.ofMillis(1);

    private final GrantBoard board;
    private final boolean batching;
    private final AcquireDeadlines deadlines;
    private final AcquireTimer timer;
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
            Duration lockWait,
            Duration decisionTimeout) {
        batching = maxBatchSize > 1;
        // all but one may be held up by rows that others have locked
        board = new GrantBoard(Math.max(1, atOnce - 1), maxBatchSize);
        deadlines = new AcquireDeadlines(board, background, decisionTimeout, this::signal);
        timer = new AcquireTimer(deadlines, threads);
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
        PendingGrant pending = handIn(order, wait);
        // a round of its own it could not leave at its deadline
        if (wait.patient() || board.hasCompany() || !lanes.help()) {
            signal();
        }
        return await(pending);
    }

    @Override
    public Submission submit(GrantOrder order, Wait wait) {
        PendingGrant pending = handIn(order, wait);
        Submission submission = new Submission() {

            @Override
            public CompletableFuture<Answer> answer() {
                return pending.answer();
            }

            @Override
            public void withdraw() {
                if (pending.answer().isDone()) {
                    return;
                }
                if (GatheredGrants.this.withdraw(pending)) {
                    boolean unused = pending.answer().completeExceptionally(new CancellationException());
                } else {
                    timer.watch(pending);
                }
            }
        };
        try {
            signal();
            timer.watch(pending);
        } catch (RuntimeException | Error failure) {
            submission.withdraw();
            throw failure;
        }
        return submission;
    }

    private PendingGrant handIn(GrantOrder order, Wait wait) {
        order.setPatient(wait.patient());
        PendingGrant pending = new PendingGrant(order, wait.deadline());
        board.add(pending);
        regulars.come();
        return pending;
    }

    private Answer await(PendingGrant pending) {
        boolean interrupted = false;
        try {
            for (long nanos = deadlines.advance(pending); nanos > 0; nanos = deadlines.advance(pending)) {
                try {
                    if (isAnswered(pending, nanos)) {
                        break;
                    }
                } catch (InterruptedException interrupt) {
                    interrupted = true;
                    if (withdraw(pending)) {
                        throw new AcquireInterruptedException(pending.names());
                    }
                }
            }
            return pending.answer().join();
        } catch (CompletionException failure) {
            throw CallerFailures.of(failure.getCause());
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Ends the wait of a caller that has lost interest. True when nothing was decided, and nothing is held; otherwise the
     * answer comes.
     */
    private boolean withdraw(PendingGrant pending) {
        boolean unknown = pending.order().isFateUnknown(); // then it is found out rather than given up
        pending.endWait();
        boolean givenUp = unknown ? !board.tryLast(pending) : board.giveUp(pending, () -> {});
        if (givenUp && pending.order().isFateUnknown()) {
            deadlines.answer(pending);
        } else if (givenUp) {
            signal(); // it may have been in another one's way
        }
        return givenUp && !pending.order().isFateUnknown();
    }

    private static boolean isAnswered(PendingGrant pending, long nanos) throws InterruptedException {
        try {
            Answer unused = pending.answer().get(nanos, TimeUnit.NANOSECONDS);
            return true;
        } catch (ExecutionException failure) {
            return true;
        } catch (TimeoutException notYet) {
            return false;
        }
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
        timer.close();
    }

    private void signal() {
        lanes.signal();
    }
}
