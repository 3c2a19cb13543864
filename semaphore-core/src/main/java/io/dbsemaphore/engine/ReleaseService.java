package io.dbsemaphore.engine;

import com.google.errorprone.annotations.CanIgnoreReturnValue;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.engine.batch.Acquire;
import io.dbsemaphore.engine.batch.BackgroundReleaser;
import io.dbsemaphore.engine.batch.GroupCommit;
import io.dbsemaphore.engine.batch.Release;
import io.dbsemaphore.engine.hold.GrantHandle;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.hold.HeldGrant;
import io.dbsemaphore.engine.hold.KeepAlive;
import io.dbsemaphore.engine.quota.Quotas;
import io.dbsemaphore.engine.quota.ReusedGrant;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.persistence.unit.CommitOutcomeUnknownException;
import io.dbsemaphore.persistence.unit.Retries;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.Executor;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.function.Consumer;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.core.NestedExceptionUtils;
import org.springframework.dao.CannotAcquireLockException;

/**
 * Releases grants. A release that would wait for a transaction of its own thread is deferred until that transaction has ended. A failed
 * release is retried in the background, because its caller has ended the work.
 *
 * @param listenerThreads call listeners of releases that nobody waits for
 * @param operations the operations to which handles delegate
 */
record ReleaseService(
        EngineDatabase database,
        Retries retry,
        GroupCommit commit,
        BackgroundReleaser background,
        GrantRegistry held,
        KeepAlive keepAlive,
        ListenerNotifier listeners,
        Executor listenerThreads,
        GrantHandle.Operations operations)
        implements Quotas.Returns {

    private static final Logger log = LoggerFactory.getLogger(ReleaseService.class);

    /** The event for listeners when the grant of this handle is released. */
    Consumer<SemaphoreListener> eventOf(GrantHandle handle) {
        return held.holds(handle.state())
                ? listener -> listener.released(new SemaphoreListener.Released(
                        handle.externalId(), handle.permits(), Optional.of(handle.heldFor())))
                : ofAnother(handle.externalId());
    }

    /** The event for listeners when a grant without a user in this JVM is released. */
    private static Consumer<SemaphoreListener> ofAnother(String externalId) {
        return listener -> listener.released(new SemaphoreListener.Released(externalId, Map.of(), Optional.empty()));
    }

    /**
     * Releases a grant that this JVM acquired or found.
     *
     * @return {@link ReleaseOutcome#DEFERRED} if the release failed and is repeated in the background
     * @throws RuntimeException if the release failed, and the background is closed
     */
    @Override
    public ReleaseOutcome release(GrantHandle handle) {
        HeldGrant state = handle.state();
        if (state.isReleased()) {
            return ReleaseOutcome.ALREADY_RELEASED;
        }
        StoredGrant grant = state.grant();
        boolean maybeLost = !state.isHeld();
        held.releaseBegins();
        try {
            Consumer<SemaphoreListener> event = eventOf(handle);
            boolean ofThisJvm = held.holds(state);
            boolean untold = state.claimEnd();
            GrantHandle user = end(state); // first, so that nothing renews a grant that is being released
            GrantHandle lost = untold && ofThisJvm ? (user == null ? handle : user) : null;
            if (database.heldCheck().defer(grant.externalId(), () -> releaseDeferred(state, event, ofThisJvm))) {
                return ReleaseOutcome.DEFERRED;
            }
            Release release = commit.release(grant, () -> maybeLost || state.isReclaimable());
            ReleaseOutcome outcome;
            try {
                outcome = await(release.answer());
            } catch (RuntimeException failure) {
                // a grant that was held until now is not lost, whatever happens later
                if (!releaseInBackground(release, state, event, ofThisJvm, maybeLost ? lost : null)) {
                    throw failure;
                }
                log.warn(
                        "The release of grant {} on {} failed and is retried in the background; its permits are available"
                                + " at the latest when their TTL has passed: {}",
                        grant.externalId(),
                        grant.counts(),
                        NestedExceptionUtils.getMostSpecificCause(failure)
                                .toString()
                                .lines()
                                .findFirst()
                                .orElse(""));
                log.debug("The release of grant {} failed", grant.externalId(), failure);
                return ReleaseOutcome.DEFERRED;
            }
            released(state);
            tell(outcome, event, lost);
            return outcome;
        } finally {
            held.releaseEnds();
        }
    }

    /** Reports a grant that was gone at its release, unless the database says that another process had released it in time. */
    private void reportGone(GrantHandle lost) {
        try {
            keepAlive.reportGone(lost);
        } catch (RuntimeException failure) {
            log.warn(
                    "{} was no longer held when it was released, for an unknown reason. Others may have held its permits"
                            + " during its work",
                    lost,
                    failure);
        }
    }

    /**
     * Ends a grant with an external id after its caller left without receiving it. Another caller that got the grant by the same id keeps
     * it. Once all callers of this JVM have left, the grant is no longer kept alive. If there were several, it stays held until its time to
     * live has passed, because another JVM may have it.
     */
    void leave(Acquire acquire, GrantHandle handle) {
        HeldGrant state = handle.state();
        if (state.leftByLast()) {
            state.claimEnd();
            end(state);
            var unusedOutcome = background.undoKeptAlive(acquire);
        } else if (acquire.command().isKeptAlive() && !keepAlive.leave(handle)) {
            var unused = background.undo(acquire); // in the database it is kept alive by this instance
        }
    }

    /** Releases a grant that its caller never received, without waiting for the outcome. */
    void giveBack(HeldGrant state) {
        giveBack(state, ofAnother(state.grant().externalId()));
    }

    /**
     * Begins to release a grant that nobody uses, or whose user the shutdown no longer waits for.
     *
     * @param event the event for listeners
     * @return a future of the release; if the release fails, so does the future, and the release is retried in the background
     */
    @CanIgnoreReturnValue
    CompletableFuture<ReleaseOutcome> giveBack(HeldGrant state, Consumer<SemaphoreListener> event) {
        state.claimEnd();
        end(state);
        return submit(state, event, true);
    }

    @Override
    public CompletableFuture<ReleaseOutcome> giveBackUnused(HeldGrant state) {
        return giveBack(state, listener -> {});
    }

    @Override
    public void kept(ReusedGrant use, Duration heldFor) {
        listeners.tell(listener -> listener.released(
                new SemaphoreListener.Released(use.externalId(), use.permits(), Optional.of(heldFor))));
    }

    /** Ends a grant for all its handles. Returns the handle of its user, if it was kept alive or watched. */
    private @Nullable GrantHandle end(HeldGrant state) {
        held.end(state);
        return keepAlive.stop(state.grant().requestId());
    }

    /** Submits a deferred release, without waiting for it. Runs on the thread that has ended the transaction. */
    private void releaseDeferred(HeldGrant state, Consumer<SemaphoreListener> event, boolean ofThisJvm) {
        held.releaseBegins();
        CompletableFuture<?> unused =
                submit(state, event, ofThisJvm).whenComplete((outcome, failure) -> held.releaseEnds());
    }

    private CompletableFuture<ReleaseOutcome> submit(
            HeldGrant state, Consumer<SemaphoreListener> event, boolean ofThisJvm) {
        if (state.isReleased()) { // or it belongs to another process, of which this one is a copy
            return CompletableFuture.completedFuture(ReleaseOutcome.ALREADY_RELEASED);
        }
        Release release = commit.release(state.grant(), state::isReclaimable);
        return release.answer().whenComplete((outcome, failure) -> {
            if (failure == null) {
                released(state);
                listenerThreads.execute(() -> tell(outcome, event, null));
            } else {
                releaseInBackground(release, state, event, ofThisJvm, null);
            }
        });
    }

    /** Ends the grant again, in case an acquire repeated its external id during the release. */
    private void released(HeldGrant state) {
        state.released();
        held.end(state);
    }

    /**
     * Repeats a failed release until the time to live has passed; without an end if another JVM acquired the grant, because that JVM may
     * renew it. If the grant turns out to be gone, {@code lost}, if not null, is reported as lost.
     */
    private boolean releaseInBackground(
            Release failed,
            HeldGrant state,
            Consumer<SemaphoreListener> event,
            boolean ofThisJvm,
            @Nullable GrantHandle lost) {
        Deadline until = ofThisJvm ? state.deadline() : Deadline.NEVER;
        AtomicReference<Release> last = new AtomicReference<>(failed);
        Supplier<CompletableFuture<?>> attempt = () -> {
            Release next = commit.releaseAgain(Objects.requireNonNull(last.get()));
            last.set(next);
            return next.answer().thenAccept(outcome -> {
                released(state);
                listenerThreads.execute(() -> tell(outcome, event, lost));
            });
        };
        return background.release(failed.grant().externalId(), attempt, until);
    }

    /**
     * Releases a grant of any JVM without its holder.
     *
     * @param transaction waits for rows that another transaction has locked
     * @throws org.springframework.dao.CannotAcquireLockException if a row was locked for too long
     */
    ReleaseOutcome forceRelease(String externalId, Supplier<ReleaseOutcome> transaction) {
        Supplier<ReleaseOutcome> release = () -> {
            ReleaseOutcome outcome = outcomeOf(externalId, transaction);
            if (outcome != ReleaseOutcome.NOT_FOUND) {
                held.find(externalId).ifPresent(state -> keepAlive.lose(new GrantHandle(state, true, operations)));
            }
            commit.pollNow();
            tell(outcome, ofAnother(externalId), null);
            return outcome;
        };
        Runnable later = () -> {
            background.release(
                    externalId, () -> CompletableFuture.supplyAsync(release, listenerThreads), Deadline.NEVER);
        };
        return database.heldCheck().defer(externalId, later) ? ReleaseOutcome.DEFERRED : release.get();
    }

    /** The outcome of a forced release. If the grant is found released after a commit without an answer, that commit has released it. */
    private ReleaseOutcome outcomeOf(String externalId, Supplier<ReleaseOutcome> transaction) {
        AtomicBoolean unanswered = new AtomicBoolean();
        try {
            ReleaseOutcome found = retry.call(() -> {
                try {
                    return transaction.get();
                } catch (CommitOutcomeUnknownException failure) {
                    unanswered.set(true);
                    throw failure;
                }
            });
            return found == ReleaseOutcome.ALREADY_RELEASED && unanswered.get() ? ReleaseOutcome.RELEASED : found;
        } catch (RuntimeException failure) {
            throw SqlErrors.isLockWait(failure)
                    ? new CannotAcquireLockException(
                            "The grant '%s' was not released: another transaction has locked it or its permits, as requireHeld does, for %s"
                                            .formatted(externalId, database.lockWait())
                                    + " (semaphore.jdbc.lock-wait-timeout). Its permits are held as before; try again when that transaction"
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

    private void tell(ReleaseOutcome outcome, Consumer<SemaphoreListener> event, @Nullable GrantHandle lost) {
        if (outcome == ReleaseOutcome.RELEASED) {
            listeners.tell(event);
        } else if (lost != null) {
            reportGone(lost);
        }
    }
}
