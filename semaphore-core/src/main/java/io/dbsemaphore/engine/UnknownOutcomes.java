package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.engine.batch.WaitTime;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.Retries;
import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.persistence.UndoTransaction;

/**
 * Makes sure that an acquire that fails holds nothing. The outcome of a commit without an answer is found out by the next
 * attempt: it waits for the locks that the lost one held, and then sees whether the request is there. Where no attempt gets
 * that far, the acquire is undone.
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
     * Makes sure that a failed acquire holds nothing; may wait for the database.
     *
     * @return what its caller is thrown
     * @throws Error the failure, if it is one
     */
    RuntimeException resolve(AcquireCommand command, WaitTime wait, Throwable failure) {
        if (failure instanceof AcquireOutcomeUnknownException unknown) {
            return unknown; // undone in the background
        }
        if (command.isOutcomeUnknown()) {
            undo(command, wait, failure);
        }
        if (failure instanceof Error error) {
            throw error;
        }
        return Thread.currentThread().isInterrupted() && SemaphorePersistence.isWorthRepeating(failure)
                ? interrupted(command, failure)
                : (RuntimeException) failure;
    }

    /** It was not tried again, since the pause before that was interrupted. */
    private static AcquireInterruptedException interrupted(AcquireCommand command, Throwable failure) {
        AcquireInterruptedException interrupted =
                new AcquireInterruptedException(command.permits().keySet());
        interrupted.addSuppressed(failure);
        return interrupted;
    }

    private void undo(AcquireCommand command, WaitTime wait, Throwable failure) {
        if (wait.willingToWait() && wait.deadline().isPassed()) { // the database has had its time
            background.undo(command);
            throw new AcquireOutcomeUnknownException(command.externalId(), failure);
        }
        try {
            retry.call(() -> {
                undoing.undo(command);
                return Boolean.TRUE;
            });
        } catch (RuntimeException | Error undoFailure) {
            failure.addSuppressed(undoFailure);
            background.undo(command);
            throw new AcquireOutcomeUnknownException(command.externalId(), failure);
        }
    }
}
