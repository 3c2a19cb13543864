package io.dbsemaphore.engine;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.engine.batch.GroupCommit;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.hold.HeldCheck;
import io.dbsemaphore.engine.hold.HeldGrant;
import io.dbsemaphore.engine.hold.KeepAlive;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.CallerExceptions;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.engine.support.Retries;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.HoldTransactions;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Semaphore;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.CannotAcquireLockException;

/**
 * Releases grants. A release that would wait for a transaction of its own thread is deferred until that has ended. A release
 * that fails is retried in the background, since its caller has declared the work done.
 */
final class ReleaseService {

    private static final Logger log = LoggerFactory.getLogger(ReleaseService.class);

    /** The maximum number of deferred releases in progress. */
    private static final int MAX_DEFERRED = 1000;

    /** Bounded, since the thread may still hold a connection of the host's pool that the releases need. */
    private static final Duration MAX_WAIT = Duration.ofSeconds(1);

    private final HoldTransactions transaction;
    private final Retries retry;
    private final Duration lockWait;
    private final GrantRegistry held;
    private final HeldCheck heldCheck;
    private final BackgroundReleaser background;
    private final GroupCommit commit;
    private final KeepAlive keepAlive;
    private final ListenerNotifier listeners;
    private final Semaphore deferred = new Semaphore(MAX_DEFERRED, true);

    ReleaseService(
            HoldTransactions transaction,
            Retries retry,
            Duration lockWait,
            GrantRegistry held,
            HeldCheck heldCheck,
            BackgroundReleaser background,
            GroupCommit commit,
            KeepAlive keepAlive,
            ListenerNotifier listeners) {
        this.transaction = transaction;
        this.retry = retry;
        this.lockWait = lockWait;
        this.held = held;
        this.heldCheck = heldCheck;
        this.background = background;
        this.commit = commit;
        this.keepAlive = keepAlive;
        this.listeners = listeners;
    }

    /** What listeners are told when this grant is released. */
    Consumer<SemaphoreListener> eventOf(HeldGrant state) {
        StoredGrant grant = state.grant();
        return held.holds(state)
                ? listener -> listener.released(new SemaphoreListener.Released(
                        grant.externalId(), grant.counts(), Optional.of(state.heldFor())))
                : listener -> listener.released(
                        new SemaphoreListener.Released(grant.externalId(), Map.of(), Optional.empty()));
    }

    /**
     * Releases a grant of this JVM.
     *
     * @param event for listeners, when it is released
     * @param user the handle of its user; null if only the keep-alive knows it
     * @return {@link ReleaseOutcome#DEFERRED} if the release failed and is repeated in the background
     * @throws RuntimeException when the release failed, and the background is closed
     */
    ReleaseOutcome release(HeldGrant state, Consumer<SemaphoreListener> event, @Nullable PermitGrant user) {
        if (state.isReleased()) {
            return ReleaseOutcome.ALREADY_RELEASED;
        }
        StoredGrant grant = state.grant();
        Map<String, Integer> counts = grant.counts();
        boolean maybeLost = !state.isHeld();
        held.releaseBegins();
        try {
            boolean ofThisJvm = held.holds(state);
            boolean untold = state.claimEnd();
            state.end();
            // before the release is tried, so that nothing renews what is released
            PermitGrant kept = keepAlive.stop(grant.requestId());
            held.end(grant.requestId());
            PermitGrant lost = untold && ofThisJvm ? (user == null ? kept : user) : null;
            if (heldCheck.defer(grant.requestId(), () -> releaseDeferred(state, event))) {
                return ReleaseOutcome.DEFERRED;
            }
            ReleaseOutcome outcome = await(commit.release(grant, maybeLost));
            state.released();
            tell(outcome, event);
            if (outcome != ReleaseOutcome.RELEASED && lost != null) {
                reportGone(state, lost);
            }
            return outcome;
        } catch (RuntimeException failure) {
            if (!releaseInBackground(grant, event, state.deadline())) {
                throw failure;
            }
            log.warn(
                    "The release of grant {} on {} failed and is repeated in the background; its permits are available when their"
                            + " TTL has passed at the latest",
                    grant.externalId(),
                    counts,
                    failure);
            return ReleaseOutcome.DEFERRED;
        } finally {
            held.releaseEnds();
        }
    }

    /** Another process may have released the grant in time; if the database does not say so, the holder is told. */
    private void reportGone(HeldGrant state, PermitGrant lost) {
        try {
            keepAlive.reportGone(state, lost);
        } catch (RuntimeException failure) {
            log.warn(
                    "{} was no longer held when it was released, and why is not known. Others may have been granted its permits"
                            + " while its work was under way",
                    lost,
                    failure);
        }
    }

    /** Releases, in the background, a grant that its caller never received. */
    void giveBack(StoredGrant grant) {
        PermitGrant unused = keepAlive.stop(grant.requestId());
        held.end(grant.requestId());
        Duration ttl = grant.ttl();
        boolean unusedToo = releaseInBackground(
                grant,
                listener -> listener.released(
                        new SemaphoreListener.Released(grant.externalId(), Map.of(), Optional.empty())),
                ttl == null ? Deadline.NEVER : Deadline.in(ttl));
    }

    /**
     * Releases a grant that nobody uses, or whose user the shutdown no longer waits for, without waiting for the outcome.
     *
     * @param event for listeners, when it is released
     * @return completed when it is released, or that has failed and is retried in the background
     */
    CompletableFuture<ReleaseOutcome> giveBack(HeldGrant state, Consumer<SemaphoreListener> event) {
        StoredGrant grant = state.grant();
        boolean unused = state.claimEnd();
        state.end();
        PermitGrant unusedToo = keepAlive.stop(grant.requestId());
        held.end(grant.requestId());
        return commit.release(grant, false).whenComplete((outcome, failure) -> {
            if (failure == null) {
                state.released();
                background.execute(() -> tell(outcome, event));
            } else {
                boolean repeated = releaseInBackground(grant, event, state.deadline());
            }
        });
    }

    /**
     * Submits a deferred release on the thread that has ended the transaction, and returns. While too many such releases are in
     * progress, it waits first, so that releases keep up with the work.
     */
    private void releaseDeferred(HeldGrant state, Consumer<SemaphoreListener> event) {
        boolean counted = Uninterruptibles.acquire(deferred, MAX_WAIT.toNanos());
        held.releaseBegins();
        CompletableFuture<?> unused = commit.release(state.grant(), false)
                .whenComplete((outcome, failure) -> {
                    if (failure == null) {
                        background.execute(() -> tell(outcome, event));
                    } else {
                        boolean unusedToo = releaseInBackground(state.grant(), event, state.deadline());
                    }
                })
                .whenComplete((outcome, failure) -> {
                    held.releaseEnds();
                    if (counted) {
                        deferred.release();
                    }
                });
    }

    private boolean releaseInBackground(StoredGrant grant, Consumer<SemaphoreListener> event, Deadline until) {
        return background.release(
                grant.externalId(),
                () -> commit.release(grant, false)
                        .thenAccept(outcome -> background.execute(() -> tell(outcome, event))),
                until);
    }

    /** Releases a grant by its external id, whichever JVM holds it. */
    ReleaseOutcome release(String externalId) {
        long asOf = System.nanoTime();
        Optional<HeldGrant> state = held.find(externalId)
                .or(() -> retry.call(() -> transaction.find(externalId)).map(grant -> held.refresh(grant, asOf)));
        if (state.isPresent()) {
            return release(state.get(), eventOf(state.get()), null);
        }
        return retry.call(() -> transaction.isKnown(externalId))
                ? ReleaseOutcome.ALREADY_RELEASED
                : ReleaseOutcome.NOT_FOUND;
    }

    /**
     * Releases a grant of any JVM without its holder.
     *
     * @param transaction waits for rows that another transaction has locked
     * @param whenReleased runs when the transaction has ended, also if it was deferred
     * @throws org.springframework.dao.CannotAcquireLockException when a row was locked for too long
     */
    ReleaseOutcome forceRelease(String externalId, Supplier<ReleaseOutcome> transaction, Runnable whenReleased) {
        Supplier<ReleaseOutcome> release = () -> {
            ReleaseOutcome outcome = outcomeOf(externalId, transaction);
            whenReleased.run();
            commit.pollNow();
            tell(
                    outcome,
                    listener ->
                            listener.released(new SemaphoreListener.Released(externalId, Map.of(), Optional.empty())));
            return outcome;
        };
        Runnable later = () -> {
            boolean unused = background.release(
                    externalId, () -> CompletableFuture.supplyAsync(release, background::execute), Deadline.NEVER);
        };
        Optional<Long> checkedHere = heldCheck.find(externalId);
        return checkedHere.isPresent() && heldCheck.defer(checkedHere.get(), later)
                ? ReleaseOutcome.DEFERRED
                : release.get();
    }

    private ReleaseOutcome outcomeOf(String externalId, Supplier<ReleaseOutcome> transaction) {
        try {
            return retry.call(transaction);
        } catch (RuntimeException failure) {
            throw SqlErrors.isLockWait(failure)
                    ? new CannotAcquireLockException(
                            "The grant '%s' was not released: another transaction has locked it or its permits, as requireHeld does, for %s"
                                            .formatted(externalId, lockWait)
                                    + " (semaphore.lock-wait-timeout). Its permits are held as before; try again when that transaction"
                                    + " has ended",
                            failure)
                    : failure;
        }
    }

    /** Waits for the outcome, and rethrows a failure as an exception of the calling thread. Ignores interrupts. */
    private static ReleaseOutcome await(CompletableFuture<ReleaseOutcome> outcome) {
        try {
            return outcome.join();
        } catch (CompletionException failure) {
            throw CallerExceptions.of(failure.getCause());
        }
    }

    private void tell(ReleaseOutcome outcome, Consumer<SemaphoreListener> event) {
        if (outcome == ReleaseOutcome.RELEASED) {
            listeners.tell(event);
        }
    }
}
