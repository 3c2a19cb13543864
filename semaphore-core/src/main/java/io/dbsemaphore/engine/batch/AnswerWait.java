package io.dbsemaphore.engine.batch;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.engine.support.CallerExceptions;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;

/** The wait of a caller's thread for the answer to its acquire. */
final class AnswerWait {

    private final GrantQueue queue;
    private final AcquireDeadlines deadlines;

    AnswerWait(GrantQueue queue, AcquireDeadlines deadlines) {
        this.queue = queue;
        this.deadlines = deadlines;
    }

    /**
     * Waits for the answer until the deadline, or until the decision under way is made.
     *
     * @throws AcquireInterruptedException when interrupted while the acquire was not being decided
     */
    AcquireAnswer await(QueuedAcquire acquire) {
        boolean interrupted = false;
        try {
            for (long nanos = deadlines.advance(acquire); nanos > 0; nanos = deadlines.advance(acquire)) {
                try {
                    if (isAnswered(acquire, nanos)) {
                        break;
                    }
                } catch (InterruptedException interrupt) {
                    interrupted = true;
                    if (withdraw(acquire)) {
                        throw new AcquireInterruptedException(
                                acquire.command().permits().keySet());
                    }
                }
            }
            return acquire.answer().join();
        } catch (CompletionException failure) {
            throw CallerExceptions.of(failure.getCause());
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Ends the wait of a caller that no longer wants the permits.
     *
     * @return true when nothing was decided, and nothing is held; otherwise an answer follows
     */
    boolean withdraw(QueuedAcquire acquire) {
        boolean unknown = acquire.state().isOutcomeUnknown(); // then the outcome is determined first
        acquire.endWait();
        boolean givenUp = unknown ? !queue.tryOnceMore(acquire) : queue.giveUp(acquire);
        if (givenUp && acquire.state().isOutcomeUnknown()) {
            deadlines.answer(acquire);
        } else if (givenUp) {
            deadlines.afterDeparture();
        }
        boolean withdrawn = givenUp && !acquire.state().isOutcomeUnknown();
        if (withdrawn) {
            acquire.answer().completeExceptionally(new CancellationException());
        }
        return withdrawn;
    }

    private static boolean isAnswered(QueuedAcquire acquire, long nanos) throws InterruptedException {
        try {
            AcquireAnswer unused = acquire.answer().get(nanos, TimeUnit.NANOSECONDS);
            return true;
        } catch (ExecutionException failure) {
            return true;
        } catch (TimeoutException notYet) {
            return false;
        }
    }
}
