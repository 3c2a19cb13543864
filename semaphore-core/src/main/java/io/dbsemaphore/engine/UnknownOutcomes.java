package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.engine.batch.Acquire;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.persistence.unit.TransactionFailures;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Semaphore;

/**
 * Ensures that a failed acquire holds nothing. The outcome of a commit without an answer is determined by the next attempt,
 * which waits for the locks of the lost transaction, and then reads whether the request exists. If no attempt gets that far, the
 * acquire is undone.
 */
final class UnknownOutcomes {

    private final BackgroundReleaser background;
    private final Duration decisionTimeout;

    /**
     * Creates the resolution of unknown outcomes for one run.
     *
     * @param decisionTimeout how long a caller waits for the database after its wait time has ended
     */
    UnknownOutcomes(BackgroundReleaser background, Duration decisionTimeout) {
        this.background = background;
        this.decisionTimeout = decisionTimeout;
    }

    /**
     * Ensures that a failed acquire holds nothing. Waits for the database until the decision timeout.
     *
     * @return the exception to be thrown to the caller
     * @throws Error the failure, if it is an error
     */
    RuntimeException resolve(Acquire acquire, Throwable failure) {
        if (failure instanceof AcquireOutcomeUnknownException unknown) {
            return unknown; // undone in the background
        }
        if (acquire.isOutcomeUnknown()) {
            undo(acquire, failure);
        }
        if (failure instanceof Error error) {
            throw error;
        }
        return Thread.currentThread().isInterrupted() && TransactionFailures.isWorthRepeating(failure)
                ? interrupted(acquire, failure)
                : (RuntimeException) failure;
    }

    /** The exception for an acquire that was not tried again, since the pause before the next attempt was interrupted. */
    private static AcquireInterruptedException interrupted(Acquire acquire, Throwable failure) {
        AcquireInterruptedException interrupted =
                new AcquireInterruptedException(acquire.command().permits().keySet());
        interrupted.addSuppressed(failure);
        return interrupted;
    }

    private void undo(Acquire acquire, Throwable failure) {
        if (acquire.hasWaitTime() && acquire.callDeadline().isPassed()) { // the database did not answer within the wait time
            background.undo(acquire);
            throw new AcquireOutcomeUnknownException(acquire.command().externalId(), failure);
        }
        // on a thread of the library, since the pool may have no connection for longer than the caller waits
        CompletableFuture<?> undone = background.undoNow(acquire);
        Semaphore ended = new Semaphore(0);
        CompletableFuture<?> unused = undone.whenComplete((result, undoFailure) -> ended.release());
        Deadline until = Deadline.after(acquire.callDeadline().nanos(), decisionTimeout);
        if (!Uninterruptibles.acquire(ended, until.remainingNanos()) || undone.isCompletedExceptionally()) {
            throw new AcquireOutcomeUnknownException(acquire.command().externalId(), failure);
        }
    }
}
