package io.dbsemaphore.engine;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreListener;
import io.dbsemaphore.persistence.ReleaseTransaction;
import io.dbsemaphore.persistence.StoredGrant;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.function.Consumer;
import java.util.function.Supplier;

/**
 * Releases, now or later: a release that would wait for a transaction of this very thread is put off until that is
 * over, and one that fails goes on in the background, since its caller has said that the work is done.
 */
final class Releaser {

    private final Releases releases;
    private final ReleaseTransaction transaction;
    private final DirectReleases direct;
    private final HeldGrants held;
    private final CheckedGrants checked;
    private final BackgroundReleases background;
    private final Grants grants;
    private final KeepAlive keepAlive;
    private final Listeners listeners;

    Releaser(
            Releases releases,
            ReleaseTransaction transaction,
            DirectReleases direct,
            HeldGrants held,
            CheckedGrants checked,
            BackgroundReleases background,
            Grants grants,
            KeepAlive keepAlive,
            Listeners listeners) {
        this.releases = releases;
        this.transaction = transaction;
        this.direct = direct;
        this.held = held;
        this.checked = checked;
        this.background = background;
        this.grants = grants;
        this.keepAlive = keepAlive;
        this.listeners = listeners;
    }

    /** Releases a grant of this JVM. */
    ReleaseOutcome release(GrantState state) {
        return state.isReleased() ? ReleaseOutcome.ALREADY_RELEASED : held.releasing(() -> releaseNow(state));
    }

    private ReleaseOutcome releaseNow(GrantState state) {
        StoredGrant grant = state.grant();
        boolean acquiredHere = held.holds(state);
        state.end();
        keepAlive.stop(grant.requestId()); // before the release is tried, so that nothing renews what is given back
        held.end(grant.requestId());
        Consumer<SemaphoreListener> event = acquiredHere
                ? listener -> listener.released(grant.externalId(), grant.counts(), state.heldFor())
                : listener -> listener.released(grant.externalId());
        Runnable release = () -> release(grant, event);
        Runnable later = () -> background.release(grant.externalId(), release, state.deadline());
        if (checked.defer(grant.requestId(), later)) {
            return ReleaseOutcome.DEFERRED;
        }
        try {
            ReleaseOutcome outcome = release(grant, event);
            state.released();
            return outcome;
        } catch (RuntimeException | Error failure) {
            later.run();
            throw failure;
        }
    }

    /** Releases, in the background, a grant that never came to its caller. */
    void giveBack(StoredGrant grant) {
        keepAlive.stop(grant.requestId());
        held.end(grant.requestId());
        Duration ttl = grant.ttl();
        background.release(
                grant.externalId(),
                () -> release(grant, listener -> listener.released(grant.externalId())),
                ttl == null ? Deadline.NEVER : Deadline.in(ttl));
    }

    /** Releases by external id what any JVM may hold. */
    ReleaseOutcome release(String externalId) {
        Optional<GrantState> state = held.find(externalId);
        return state.isPresent()
                ? release(state.get())
                : takeAway(externalId, () -> transaction.release(externalId), () -> {});
    }

    /**
     * Takes away by external id what any JVM may hold, this one too.
     *
     * @param taken what is done once the transaction has ended, be it deferred
     */
    ReleaseOutcome force(String externalId, Supplier<ReleaseOutcome> transaction, Runnable taken) {
        return takeAway(externalId, transaction, taken);
    }

    private ReleaseOutcome takeAway(String externalId, Supplier<ReleaseOutcome> transaction, Runnable taken) {
        Runnable release = () -> run(externalId, transaction, taken);
        Optional<Long> checkedHere = checked.find(externalId); // deferred before, or the grant of another engine
        return checkedHere.isPresent()
                        && checked.defer(
                                checkedHere.get(), () -> background.release(externalId, release, Deadline.NEVER))
                ? ReleaseOutcome.DEFERRED
                : run(externalId, transaction, taken);
    }

    private ReleaseOutcome release(StoredGrant grant, Consumer<SemaphoreListener> event) {
        Map<String, Integer> counts = grant.counts();
        boolean along = grants.takesAlong(counts.keySet());
        ReleaseOutcome outcome =
                along ? releases.releaseAlong(grant, () -> grants.releasing(counts)) : releases.release(grant);
        if (outcome == ReleaseOutcome.RELEASED) {
            if (!along) {
                grants.released(counts);
            }
            listeners.tell(event);
        }
        return outcome;
    }

    private ReleaseOutcome run(String externalId, Supplier<ReleaseOutcome> transaction, Runnable taken) {
        ReleaseOutcome outcome = direct.run(transaction);
        taken.run();
        if (outcome == ReleaseOutcome.RELEASED) {
            grants.lookAgain();
            listeners.tell(listener -> listener.released(externalId));
        }
        return outcome;
    }
}
