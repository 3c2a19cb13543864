package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.persistence.GrantOrder;
import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.persistence.UndoTransaction;

/**
 * Makes sure that an order that fails holds nothing. A commit without an answer is found out by the next attempt: it waits
 * for the locks that the lost one held, and then sees whether the request is there. Where no attempt gets that far, the
 * order is undone.
 */
final class Granter {

    private final Grants grants;
    private final UndoTransaction undoing;
    private final TransientRetry retry;
    private final BackgroundReleases background;

    Granter(Grants grants, UndoTransaction undoing, TransientRetry retry, BackgroundReleases background) {
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
    Grants.Answer grant(GrantOrder order, Wait wait) {
        try {
            return grants.grant(order, wait);
        } catch (RuntimeException failure) {
            throw failure(order, wait, failure);
        } catch (Error failure) {
            if (order.isFateUnknown()) {
                undo(order, wait, failure);
            }
            throw failure;
        }
    }

    /** Does what {@link #grant} does, without waiting; {@link #failure} is to be called with what it fails with. */
    Grants.Submission submit(GrantOrder order, Wait wait) {
        return grants.submit(order, wait);
    }

    /** What the caller is told of a failure, once it is made sure that nothing is held. May wait for the database. */
    RuntimeException failure(GrantOrder order, Wait wait, RuntimeException failure) {
        if (failure instanceof AcquireOutcomeUnknownException) {
            return failure; // undone in the background
        }
        if (order.isFateUnknown()) {
            undo(order, wait, failure);
        }
        return Thread.currentThread().isInterrupted() && SemaphorePersistence.isWorthRepeating(failure)
                ? interrupted(order, failure)
                : failure;
    }

    /** It was not tried again, since the pause before that was interrupted. */
    private static AcquireInterruptedException interrupted(GrantOrder order, Throwable failure) {
        AcquireInterruptedException interrupted =
                new AcquireInterruptedException(order.permits().keySet());
        interrupted.addSuppressed(failure);
        return interrupted;
    }

    private void undo(GrantOrder order, Wait wait, Throwable failure) {
        if (wait.patient() && wait.deadline().isPassed()) { // the database has had its time
            background.undo(order);
            throw new AcquireOutcomeUnknownException(order.externalId(), failure);
        }
        try {
            Uninterrupted.call(() -> retry.call(() -> {
                undoing.undo(order);
                return Boolean.TRUE;
            }));
        } catch (RuntimeException | Error undoFailure) {
            failure.addSuppressed(undoFailure);
            background.undo(order);
            throw new AcquireOutcomeUnknownException(order.externalId(), failure);
        }
    }
}
