package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.engine.batch.WaitTime;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.Retries;
import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.persistence.UndoTransaction;

/**
 * Ensures that a failed acquire holds nothing. The outcome of a commit without an answer is determined by the next attempt,
 * which waits for the locks of the lost transaction, and then reads whether the request exists. If no attempt gets that far, the
 * acquire is undone.
 */
final class UnknownOutcomes {

    private final UndoTransaction undoing;
    private final Retries retry;
    private final BackgroundReleaser background;

    UnknownOutcomes(UndoTransaction undoing, Retries retry, BackgroundReleaser background) {
        this.undoing = undoing;
        this.retry = retry;
        this.background = background;
    }

    /**
     * Ensures that a failed acquire holds nothing. May wait for the database.
     *
     * @return the exception to be thrown to the caller
     * @throws Error the failure, if it is an error
     */
    RuntimeException resolve(AcquireState acquire, WaitTime wait, Throwable failure) {
        if (failure instanceof AcquireOutcomeUnknownException unknown) {
            return unknown; // undone in the background
        }
        if (acquire.isOutcomeUnknown()) {
            undo(acquire, wait, failure);
        }
        if (failure instanceof Error error) {
            throw error;
        }
        return Thread.currentThread().isInterrupted() && SemaphorePersistence.isWorthRepeating(failure)
                ? interrupted(acquire, failure)
                : (RuntimeException) failure;
    }

    /** The exception for an acquire that was not tried again, since the pause before the next attempt was interrupted. */
    private static AcquireInterruptedException interrupted(AcquireState acquire, Throwable failure) {
        AcquireInterruptedException interrupted =
                new AcquireInterruptedException(acquire.command().permits().keySet());
        interrupted.addSuppressed(failure);
        return interrupted;
    }

    private void undo(AcquireState acquire, WaitTime wait, Throwable failure) {
        if (wait.willingToWait() && wait.deadline().isPassed()) { // the database did not answer within the wait time
            background.undo(acquire);
            throw new AcquireOutcomeUnknownException(acquire.command().externalId(), failure);
        }
        try {
            retry.call(() -> {
                undoing.undo(acquire);
                return Boolean.TRUE;
            });
        } catch (RuntimeException | Error undoFailure) {
            failure.addSuppressed(undoFailure);
            background.undo(acquire);
            throw new AcquireOutcomeUnknownException(acquire.command().externalId(), failure);
        }
    }
}
