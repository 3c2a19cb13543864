package io.dbsemaphore.engine;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreListener;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.engine.batch.BatchingGranter;
import io.dbsemaphore.engine.batch.ReleaseBatcher;
import io.dbsemaphore.engine.hold.CheckedGrants;
import io.dbsemaphore.engine.hold.DeferredReleases;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.hold.HeldGrant;
import io.dbsemaphore.engine.hold.KeepAlive;
import io.dbsemaphore.engine.support.BackgroundReleaser;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.persistence.ReleaseTransaction;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Releases grants. A release that would wait for a transaction of its own thread is deferred until that has ended. A release
 * that fails is retried in the background, since its caller has declared the work done.
 */
final class ReleaseService {

    private final ReleaseBatcher batcher;
    private final ReleaseTransaction transaction;
    private final ReleasesByExternalId byExternalId;
    private final GrantRegistry held;
    private final CheckedGrants checked;
    private final BackgroundReleaser background;
    private final DeferredReleases deferred;
    private final BatchingGranter granter;
    private final KeepAlive keepAlive;
    private final ListenerNotifier listeners;

    ReleaseService(
            ReleaseBatcher batcher,
            ReleaseTransaction transaction,
            ReleasesByExternalId byExternalId,
            GrantRegistry held,
            CheckedGrants checked,
            BackgroundReleaser background,
            BatchingGranter granter,
            KeepAlive keepAlive,
            ListenerNotifier listeners) {
        this.batcher = batcher;
        this.transaction = transaction;
        this.byExternalId = byExternalId;
        this.held = held;
        this.checked = checked;
        this.background = background;
        this.deferred = new DeferredReleases(held, background);
        this.granter = granter;
        this.keepAlive = keepAlive;
        this.listeners = listeners;
    }

    /** What listeners are told when this grant is released. */
    Consumer<SemaphoreListener> eventOf(HeldGrant state) {
        StoredGrant grant = state.grant();
        return held.holds(state)
                ? listener -> listener.released(grant.externalId(), grant.counts(), state.heldFor())
                : listener -> listener.released(grant.externalId());
    }

    /**
     * Releases a grant of this JVM.
     *
     * @param event for listeners, when it is released
     */
    ReleaseOutcome release(HeldGrant state, Consumer<SemaphoreListener> event) {
        if (state.isReleased()) {
            return ReleaseOutcome.ALREADY_RELEASED;
        }
        StoredGrant grant = state.grant();
        Map<String, Integer> counts = grant.counts();
        boolean maybeLost = !state.isHeld();
        held.releaseBegins();
        try {
            state.end();
            keepAlive.stop(grant.requestId()); // before the release is tried, so that nothing renews what is released
            held.end(grant.requestId());
            if (checked.defer(grant.requestId(), () -> releaseDeferred(state, event))) {
                return ReleaseOutcome.DEFERRED;
            }
            ReleaseOutcome outcome = granter.acceptsReleases(counts.keySet())
                    ? ReleaseBatcher.await(batcher.submitPiggyBacked(grant, maybeLost, () -> granter.releasing(counts)))
                    : wakeWaiters(counts, batcher.release(grant, maybeLost));
            state.released();
            tell(outcome, event);
            return outcome;
        } catch (RuntimeException | Error failure) {
            releaseInBackground(grant, event, state.deadline());
            throw failure;
        } finally {
            held.releaseEnds();
        }
    }

    /** Releases, in the background, a grant that its caller never received. */
    void giveBack(StoredGrant grant) {
        keepAlive.stop(grant.requestId());
        held.end(grant.requestId());
        Duration ttl = grant.ttl();
        releaseInBackground(
                grant,
                listener -> listener.released(grant.externalId()),
                ttl == null ? Deadline.NEVER : Deadline.in(ttl));
    }

    /**
     * Releases a grant that nobody uses, without waiting for the outcome. Listeners are not told: they know that its last use has
     * ended.
     *
     * @return completed when it is released, or that has failed and is retried in the background
     */
    CompletableFuture<?> giveBackIdle(HeldGrant state) {
        StoredGrant grant = state.grant();
        state.end();
        keepAlive.stop(grant.requestId());
        held.end(grant.requestId());
        return submitAsync(grant).whenComplete((outcome, failure) -> {
            if (failure != null) {
                releaseInBackground(grant, listener -> {}, state.deadline());
            }
        });
    }

    private void releaseDeferred(HeldGrant state, Consumer<SemaphoreListener> event) {
        deferred.begin(
                () -> submitAsync(state.grant()),
                outcome -> tell(outcome, event),
                () -> releaseInBackground(state.grant(), event, state.deadline()));
    }

    private void releaseInBackground(StoredGrant grant, Consumer<SemaphoreListener> event, Deadline until) {
        background.release(
                grant.externalId(),
                () -> submitAsync(grant).thenAccept(outcome -> background.execute(() -> tell(outcome, event))),
                until);
    }

    /** Releases a grant by its external id, whichever JVM holds it. */
    ReleaseOutcome release(String externalId) {
        Optional<HeldGrant> state = held.find(externalId);
        return state.isPresent()
                ? release(state.get(), eventOf(state.get()))
                : release(externalId, () -> transaction.releaseSkipLocked(externalId), () -> {});
    }

    /**
     * Releases a grant by its external id, by this transaction.
     *
     * @param attempt returns empty when another transaction has locked rows of the grant
     * @param whenReleased runs when the transaction has ended, also if it was deferred
     */
    ReleaseOutcome release(String externalId, Supplier<Optional<ReleaseOutcome>> attempt, Runnable whenReleased) {
        Optional<Long> checkedHere = checked.find(externalId); // deferred before, or the grant of another engine
        Runnable later = () -> background.release(
                externalId,
                () -> BackgroundReleaser.done(
                        () -> report(externalId, byExternalId.tryOnce(externalId, attempt), whenReleased)),
                Deadline.NEVER);
        return checkedHere.isPresent() && checked.defer(checkedHere.get(), later)
                ? ReleaseOutcome.DEFERRED
                : report(externalId, byExternalId.run(externalId, attempt), whenReleased);
    }

    private ReleaseOutcome report(String externalId, ReleaseOutcome outcome, Runnable whenReleased) {
        whenReleased.run();
        if (outcome == ReleaseOutcome.RELEASED) {
            granter.pollNow();
        }
        tell(outcome, listener -> listener.released(externalId));
        return outcome;
    }

    /** Submits a release without waiting for its outcome. Whatever fails is the failure of the future. */
    private CompletableFuture<ReleaseOutcome> submitAsync(StoredGrant grant) {
        try {
            Map<String, Integer> counts = grant.counts();
            return granter.acceptsReleases(counts.keySet())
                    ? batcher.submitPiggyBacked(grant, false, () -> granter.releasing(counts))
                    : batcher.submitAsync(grant).thenApply(outcome -> wakeWaiters(counts, outcome));
        } catch (RuntimeException | Error failure) {
            return CompletableFuture.failedFuture(failure);
        }
    }

    private ReleaseOutcome wakeWaiters(Map<String, Integer> counts, ReleaseOutcome outcome) {
        if (outcome == ReleaseOutcome.RELEASED) {
            granter.released(counts);
        }
        return outcome;
    }

    private void tell(ReleaseOutcome outcome, Consumer<SemaphoreListener> event) {
        if (outcome == ReleaseOutcome.RELEASED) {
            listeners.tell(event);
        }
    }
}
