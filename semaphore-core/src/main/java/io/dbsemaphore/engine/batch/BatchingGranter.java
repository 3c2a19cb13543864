package io.dbsemaphore.engine.batch;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.CallerExceptions;
import io.dbsemaphore.persistence.AvailabilityTransactions;
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
 * round may wait for a moment for those {@linkplain GroupCommitDelay whom the last one served}.
 *
 * <p>The idea is that of group commit in databases and of flat combining (Hendler, Incze, Shavit and Tzafrir, 2010).
 */
public final class BatchingGranter implements Granter {

    /** How long a round waits for those whom the last one served, at most. */
    private static final Duration MAX_DELAY = Duration.ofMillis(1);

    private final GrantQueue queue;
    private final boolean batching;
    private final AcquireDeadlines deadlines;
    private final AcquireTimer timer;
    private final AvailabilityPoller poller;
    private final GroupCommitDelay groupCommitDelay = new GroupCommitDelay(MAX_DELAY);
    private final BatchWorkers workers;

    public BatchingGranter(
            BatchTransaction attempt,
            AvailabilityTransactions availabilityTransactions,
            ReleaseBatcher releases,
            BackgroundReleaser background,
            DaemonThreads threads,
            int atOnce,
            int maxBatchSize,
            int maxAttempts,
            Duration lockWait,
            Duration decisionTimeout,
            boolean certifiesWrites) {
        batching = maxBatchSize > 1;
        // all but one may be held up by rows that others have locked
        queue = new GrantQueue(Math.max(1, atOnce - 1), maxBatchSize, certifiesWrites);
        deadlines = new AcquireDeadlines(queue, background, decisionTimeout, this::signal);
        timer = new AcquireTimer(deadlines, threads);
        poller = new AvailabilityPoller(queue.waiters(), availabilityTransactions, threads, this::signal);
        workers = new BatchWorkers(
                threads,
                "semaphore-grants",
                atOnce,
                new BatchRunner(queue, attempt, releases, background, poller, groupCommitDelay, maxAttempts, lockWait));
    }

    @Override
    public Answer grant(AcquireCommand command, WaitTime wait) {
        if (Thread.currentThread().isInterrupted()) {
            throw new AcquireInterruptedException(command.permits().keySet());
        }
        QueuedAcquire pending = pending(command, wait);
        // a round of its own it could not leave at its deadline
        if (enqueue(pending) && (wait.willingToWait() || queue.isContended() || !workers.help())) {
            signal();
        }
        return await(pending);
    }

    @Override
    public Submission submit(AcquireCommand command, WaitTime wait) {
        QueuedAcquire pending = pending(command, wait);
        boolean isTried = enqueue(pending);
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
                if (BatchingGranter.this.withdraw(pending)) {
                    boolean unused = pending.answer().completeExceptionally(new CancellationException());
                } else {
                    timer.watch(pending);
                }
            }
        };
        try {
            if (isTried) {
                signal();
            }
            timer.watch(pending);
        } catch (RuntimeException | Error failure) {
            submission.withdraw();
            throw failure;
        }
        return submission;
    }

    private static QueuedAcquire pending(AcquireCommand command, WaitTime wait) {
        command.setWillingToWait(wait.willingToWait());
        return new QueuedAcquire(command, wait.deadline());
    }

    /** Returns whether it is to be tried now. */
    private boolean enqueue(QueuedAcquire pending) {
        boolean isTried = queue.add(pending);
        groupCommitDelay.come();
        return isTried;
    }

    private Answer await(QueuedAcquire pending) {
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
            throw CallerExceptions.of(failure.getCause());
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
    private boolean withdraw(QueuedAcquire pending) {
        boolean unknown = pending.command().isOutcomeUnknown(); // then it is found out rather than given up
        pending.endWait();
        boolean givenUp = unknown ? !queue.tryLast(pending) : queue.giveUp(pending, () -> {});
        if (givenUp && pending.command().isOutcomeUnknown()) {
            deadlines.answer(pending);
        } else if (givenUp) {
            signal(); // it may have been in another one's way
        }
        return givenUp && !pending.command().isOutcomeUnknown();
    }

    private static boolean isAnswered(QueuedAcquire pending, long nanos) throws InterruptedException {
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
    public boolean acceptsReleases(Set<String> names) {
        return queue.takesReleases(names) && batching && workers.areSeveral();
    }

    @Override
    public void releasing(Map<String, Integer> permits) {
        boolean unused = queue.released(permits);
        groupCommitDelay.come();
        signal();
    }

    @Override
    public void released(Map<String, Integer> permits) {
        if (queue.released(permits)) {
            signal();
        }
        if (queue.waiters().nanosToPauseEnd() < Long.MAX_VALUE) {
            poller.reconsider();
        }
    }

    @Override
    public void lookAgain() {
        poller.lookNow();
    }

    @Override
    public void close() {
        queue.close().forEach(pending -> pending.answer().completeExceptionally(new SemaphoreClosedException()));
        poller.close();
        workers.close();
        timer.close();
    }

    private void signal() {
        workers.signal();
    }
}
