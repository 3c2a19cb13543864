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
 * Releases, now or later: a release that would wait for a transaction of this very thread is put off until that is
 * over, and one that fails goes on in the background, since its caller has said that the work is done.
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

    /** Releases a grant of this JVM. */
    ReleaseOutcome release(HeldGrant state) {
        if (state.isReleased()) {
            return ReleaseOutcome.ALREADY_RELEASED;
        }
        StoredGrant grant = state.grant();
        Map<String, Integer> counts = grant.counts();
        Consumer<SemaphoreListener> event = held.holds(state)
                ? listener -> listener.released(grant.externalId(), counts, state.heldFor())
                : listener -> listener.released(grant.externalId());
        held.releaseBegins();
        try {
            state.end();
            keepAlive.stop(grant.requestId()); // before the release is tried, so that nothing renews what is released
            held.end(grant.requestId());
            if (checked.defer(grant.requestId(), () -> releaseDeferred(state, event))) {
                return ReleaseOutcome.DEFERRED;
            }
            ReleaseOutcome outcome = granter.acceptsReleases(counts.keySet())
                    ? releasePiggyBacked(grant, counts)
                    : released(counts, batcher.release(grant));
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

    private ReleaseOutcome releasePiggyBacked(StoredGrant grant, Map<String, Integer> counts) {
        return ReleaseBatcher.await(batcher.submitPiggyBacked(grant, () -> granter.releasing(counts)));
    }

    /** Releases, in the background, a grant that never came to its caller. */
    void giveBack(StoredGrant grant) {
        keepAlive.stop(grant.requestId());
        held.end(grant.requestId());
        Duration ttl = grant.ttl();
        releaseInBackground(
                grant,
                listener -> listener.released(grant.externalId()),
                ttl == null ? Deadline.NEVER : Deadline.in(ttl));
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

    /** Releases by external id what any JVM may hold. */
    ReleaseOutcome release(String externalId) {
        Optional<HeldGrant> state = held.find(externalId);
        return state.isPresent()
                ? release(state.get())
                : takeAway(externalId, () -> transaction.releaseUnlessLocked(externalId), () -> {});
    }

    /**
     * Takes away by external id what any JVM may hold, this one too.
     *
     * @param transaction empty when another transaction has locked something of it
     * @param taken what is done once the transaction has ended, be it deferred
     */
    ReleaseOutcome force(String externalId, Supplier<Optional<ReleaseOutcome>> transaction, Runnable taken) {
        return takeAway(externalId, transaction, taken);
    }

    private ReleaseOutcome takeAway(String externalId, Supplier<Optional<ReleaseOutcome>> transaction, Runnable taken) {
        Optional<Long> checkedHere = checked.find(externalId); // deferred before, or the grant of another engine
        Runnable later = () -> background.release(
                externalId,
                () -> BackgroundReleaser.done(
                        () -> takenAway(externalId, byExternalId.tryOnce(externalId, transaction), taken)),
                Deadline.NEVER);
        return checkedHere.isPresent() && checked.defer(checkedHere.get(), later)
                ? ReleaseOutcome.DEFERRED
                : takenAway(externalId, byExternalId.run(externalId, transaction), taken);
    }

    private ReleaseOutcome takenAway(String externalId, ReleaseOutcome outcome, Runnable taken) {
        taken.run();
        if (outcome == ReleaseOutcome.RELEASED) {
            granter.pollNow();
        }
        tell(outcome, listener -> listener.released(externalId));
        return outcome;
    }

    /** Releases without waiting for it. */
    private CompletableFuture<ReleaseOutcome> submitAsync(StoredGrant grant) {
        Map<String, Integer> counts = grant.counts();
        return granter.acceptsReleases(counts.keySet())
                ? batcher.submitPiggyBacked(grant, () -> granter.releasing(counts))
                : batcher.submitAsync(grant).thenApply(outcome -> released(counts, outcome));
    }

    private ReleaseOutcome released(Map<String, Integer> counts, ReleaseOutcome outcome) {
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
