package io.dbsemaphore.engine;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.engine.batch.AcquireAnswer;
import io.dbsemaphore.engine.hold.GrantHandle;
import io.dbsemaphore.engine.hold.GrantOperations;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.hold.HeldGrant;
import io.dbsemaphore.engine.hold.InstanceLease;
import io.dbsemaphore.engine.hold.KeepAlive;
import io.dbsemaphore.engine.reuse.ReusablePermit;
import io.dbsemaphore.engine.support.CallerExceptions;
import io.dbsemaphore.engine.support.Deadline;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.spi.PermitManager.AcquireResult;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.util.Optional;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Makes the caller's result from the decision of the database: registers the grant, keeps it alive, and notifies listeners. */
final class AcquireResults {

    private final PendingAcquireFactory pendingAcquires;
    private final PatternSemaphoreCreator patterns;
    private final ReleaseService releases;
    private final ReuseService reuse;
    private final GrantRegistry held;
    private final KeepAlive keepAlive;
    private final InstanceLease lease;
    private final ListenerNotifier listeners;
    private final GrantOperations operations;

    /**
     * Creates results.
     *
     * @param operations to which the handles of the grants delegate
     */
    AcquireResults(
            PendingAcquireFactory pendingAcquires,
            PatternSemaphoreCreator patterns,
            ReleaseService releases,
            ReuseService reuse,
            GrantRegistry held,
            KeepAlive keepAlive,
            InstanceLease lease,
            ListenerNotifier listeners,
            GrantOperations operations) {
        this.pendingAcquires = pendingAcquires;
        this.patterns = patterns;
        this.releases = releases;
        this.reuse = reuse;
        this.held = held;
        this.keepAlive = keepAlive;
        this.lease = lease;
        this.listeners = listeners;
        this.operations = operations;
    }

    /**
     * The result of an acquire.
     *
     * @throws io.dbsemaphore.SemaphoreException when the acquire was rejected
     */
    AcquireResult of(PendingAcquire pending, AcquireAnswer answer) {
        GrantOutcome outcome = answer.outcome();
        Duration waited = Duration.ofNanos(System.nanoTime() - pending.startedAt());
        if (outcome instanceof GrantOutcome.Granted granted) {
            PermitGrant handle = holdOrGiveBack(pending, granted, answer);
            boolean refusedAtFirst = pending.state().wasRefused();
            listeners.tell(
                    listener -> listener.acquired(new SemaphoreListener.Acquired(handle, waited, refusedAtFirst)));
            return new AcquireResult.Granted(handle);
        }
        if (outcome instanceof GrantOutcome.Refused refused) {
            listeners.tell(listener ->
                    listener.refused(new SemaphoreListener.Refused(pending.request(), refused.shortages(), waited)));
            return new AcquireResult.Unavailable(refused.shortages());
        }
        if (outcome instanceof GrantOutcome.Rejected rejected) {
            throw CallerExceptions.of(patterns.explain(rejected.reason()));
        }
        throw new IllegalStateException(
                "Nothing was decided about " + pending.state().command().externalId() + ": " + outcome);
    }

    /** Releases the grant if an error occurs here, since an acquire that throws must hold nothing. */
    private PermitGrant holdOrGiveBack(PendingAcquire pending, GrantOutcome.Granted granted, AcquireAnswer answer) {
        try {
            return hold(pending, granted, answer);
        } catch (RuntimeException | Error failure) {
            if (!granted.replayed()) {
                releases.giveBack(granted.grant());
            }
            throw failure;
        }
    }

    private PermitGrant hold(PendingAcquire pending, GrantOutcome.Granted granted, AcquireAnswer answer) {
        Optional<PermitGrant> handedOver = reuse.beginHandedOver(pending, granted);
        return handedOver.isPresent() ? handedOver.get() : holdGranted(pending, granted, answer);
    }

    private PermitGrant holdGranted(PendingAcquire pending, GrantOutcome.Granted granted, AcquireAnswer answer) {
        HeldGrant state = held.register(granted.grant(), answer.asOf());
        ReuseTerms terms = pending.state().reuseTerms();
        if (pending.forWork() || pending.keptAlive()) {
            state.setForWork(true);
        }
        state.setOutlivesShutdown(!pending.request().isReleaseAtShutdown());
        state.setAcquiredAt(terms == null ? pending.acquiredAt() : null); // a reused permit is acquired by many
        if (terms != null) {
            ReusablePermit permit = reuse.granted(terms, pending, state, answer.asOf());
            PermitGrant firstUse = reuse.beginUse(permit);
            keepAlive(state, permit::user, terms.maxHold().plus(reuse.reuseOf(terms)), answer);
            return firstUse;
        }
        PermitGrant grant = new GrantHandle(state, granted.replayed(), operations);
        if (pending.keptAlive()) {
            keepAlive(state, () -> grant, pendingAcquires.maxHold(pending.request()), answer);
        } else {
            keepAlive.watch(state, grant); // unless an earlier acquire keeps it alive
        }
        return grant;
    }

    private void keepAlive(
            HeldGrant state, Supplier<? extends @Nullable PermitGrant> user, Duration maxHold, AcquireAnswer answer) {
        state.bindTo(lease, answer.epoch());
        keepAlive.keep(state, user, Deadline.after(answer.asOf(), maxHold));
        keepAlive.confirm(state);
    }
}
