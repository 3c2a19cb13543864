package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.engine.batch.Granter;
import io.dbsemaphore.engine.batch.WaitTime;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.Retries;
import io.dbsemaphore.engine.support.Uninterruptibles;
import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.persistence.UndoTransaction;

/**
 * Makes sure that an order that fails holds nothing. A commit without an answer is found out by the next attempt: it waits
 * for the locks that the lost one held, and then sees whether the request is there. Where no attempt gets that far, the
 * order is undone.
 */
final class AcquireService {

    private final Granter grants;
    private final UndoTransaction undoing;
    private final Retries retry;
    private final BackgroundReleaser background;

    AcquireService(Granter grants, UndoTransaction undoing, Retries retry, BackgroundReleaser background) {
        this.grants = grants;
        this.undoing = undoing;
        this.retry = retry;
        this.background = background;
    }

    /**
     * Grants the order, as soon as there is room within the time to wait.
     *
     * @throws AcquireInterruptedException when interrupted before it was decided; nothing is held
     * @throws RuntimeException when it failed; nothing is held, unless it is an {@link AcquireOutcomeUnknownException}
     */
    Granter.Answer grant(AcquireCommand command, WaitTime wait) {
        try {
            return grants.grant(command, wait);
        } catch (RuntimeException failure) {
            throw failure(command, wait, failure);
        } catch (Error failure) {
            if (command.isOutcomeUnknown()) {
                undo(command, wait, failure);
            }
            throw failure;
        }
    }

    /** Does what {@link #grant} does, without waiting; {@link #failure} is to be called with what it fails with. */
    Granter.Submission submit(AcquireCommand command, WaitTime wait) {
        return grants.submit(command, wait);
    }

    /** What the caller is told of a failure, once it is made sure that nothing is held. May wait for the database. */
    RuntimeException failure(AcquireCommand command, WaitTime wait, RuntimeException failure) {
        if (failure instanceof AcquireOutcomeUnknownException) {
            return failure; // undone in the background
        }
        if (command.isOutcomeUnknown()) {
            undo(command, wait, failure);
        }
        return Thread.currentThread().isInterrupted() && SemaphorePersistence.isWorthRepeating(failure)
                ? interrupted(command, failure)
                : failure;
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
            Uninterruptibles.call(() -> retry.call(() -> {
                undoing.undo(command);
                return Boolean.TRUE;
            }));
        } catch (RuntimeException | Error undoFailure) {
            failure.addSuppressed(undoFailure);
            background.undo(command);
            throw new AcquireOutcomeUnknownException(command.externalId(), failure);
        }
    }
}
