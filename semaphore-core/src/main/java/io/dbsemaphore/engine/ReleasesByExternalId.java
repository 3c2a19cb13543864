package io.dbsemaphore.engine;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.engine.support.BackOff;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.engine.support.Retries;
import io.dbsemaphore.persistence.unit.CommitOutcomeUnknownException;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.Semaphore;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.function.Supplier;
import org.springframework.dao.CannotAcquireLockException;

/**
 * Runs releases by external id on the caller's thread, one transaction at a time. The transaction does not wait for row locks,
 * such as those of a business transaction that has checked the grant: it is tried again after a pause, during which it holds
 * neither a connection nor a lock.
 */
final class ReleasesByExternalId {

    private final Retries retry;
    private final Duration lockWait;
    private final Semaphore turn = new Semaphore(1, true);

    /**
     * Creates an executor of such releases.
     *
     * @param lockWait the maximum time to wait for rows that another transaction has locked
     */
    ReleasesByExternalId(Retries retry, Duration lockWait) {
        this.retry = retry;
        this.lockWait = lockWait;
    }

    /**
     * Tries until no row is locked. Ignores interrupts.
     *
     * @param transaction returns empty when a row is locked
     * @throws CannotAcquireLockException when a row was locked for too long
     */
    ReleaseOutcome run(String externalId, Supplier<Optional<ReleaseOutcome>> transaction) {
        AtomicBoolean commitSent = new AtomicBoolean();
        Deadline deadline = Deadline.in(lockWait);
        int attempts = 0;
        do {
            Optional<ReleaseOutcome> outcome = tryInTurn(transaction, commitSent, deadline);
            if (outcome.isPresent()) {
                return outcome.get();
            }
            Uninterruptibles.pause(Deadline.in(BackOff.POLLING.after(++attempts))
                    .orEarlier(deadline)
                    .remainingNanos());
        } while (!deadline.isPassed());
        return tryOnce(externalId, transaction, commitSent);
    }

    /**
     * Tries once.
     *
     * @throws CannotAcquireLockException when a row is locked
     */
    ReleaseOutcome tryOnce(String externalId, Supplier<Optional<ReleaseOutcome>> transaction) {
        return tryOnce(externalId, transaction, new AtomicBoolean());
    }

    private ReleaseOutcome tryOnce(
            String externalId, Supplier<Optional<ReleaseOutcome>> transaction, AtomicBoolean commitSent) {
        return tryInTurn(transaction, commitSent, Deadline.in(lockWait))
                .orElseThrow(() -> new CannotAcquireLockException(
                        "The grant '%s' was not released: another transaction has locked it or its permits, as requireHeld does, for %s"
                                        .formatted(externalId, lockWait)
                                + " (semaphore.lock-wait-timeout). Its permits are held as before; try again when that transaction has"
                                + " ended"));
    }

    private Optional<ReleaseOutcome> tryInTurn(
            Supplier<Optional<ReleaseOutcome>> transaction, AtomicBoolean commitSent, Deadline deadline) {
        if (!Uninterruptibles.acquire(turn, deadline.remainingNanos())) {
            return Optional.empty();
        }
        try {
            return attempt(transaction, commitSent);
        } finally {
            turn.release();
        }
    }

    private Optional<ReleaseOutcome> attempt(Supplier<Optional<ReleaseOutcome>> transaction, AtomicBoolean commitSent) {
        Optional<ReleaseOutcome> outcome = retry.call(() -> {
            try {
                return transaction.get();
            } catch (CommitOutcomeUnknownException unknown) {
                commitSent.set(true);
                throw unknown;
            }
        });
        return outcome.map(each -> each == ReleaseOutcome.ALREADY_RELEASED && commitSent.get()
                ? ReleaseOutcome.RELEASED // by an earlier attempt of this call
                : each);
    }
}
