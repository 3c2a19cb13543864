package io.dbsemaphore.engine;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.ReuseTerms;
import io.dbsemaphore.engine.batch.Acquire;
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

    private final AcquireFactory acquireFactory;
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
            AcquireFactory acquireFactory,
            PatternSemaphoreCreator patterns,
            ReleaseService releases,
            ReuseService reuse,
            GrantRegistry held,
            KeepAlive keepAlive,
            InstanceLease lease,
            ListenerNotifier listeners,
            GrantOperations operations) {
        this.acquireFactory = acquireFactory;
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
    AcquireResult of(Acquire acquire, Acquire.Answer answer) {
        GrantOutcome outcome = answer.outcome();
        Duration waited = Duration.ofNanos(System.nanoTime() - acquire.call().startedAt());
        if (outcome instanceof GrantOutcome.Granted granted) {
            PermitGrant handle = holdOrGiveBack(acquire, granted, answer);
            boolean refusedAtFirst = acquire.wasRefused();
            listeners.tell(
                    listener -> listener.acquired(new SemaphoreListener.Acquired(handle, waited, refusedAtFirst)));
            return new AcquireResult.Granted(handle);
        }
        if (outcome instanceof GrantOutcome.Refused refused) {
            listeners.tell(listener -> listener.refused(
                    new SemaphoreListener.Refused(acquire.call().request(), refused.shortages(), waited)));
            return new AcquireResult.Unavailable(refused.shortages());
        }
        if (outcome instanceof GrantOutcome.Rejected rejected) {
            throw CallerExceptions.of(patterns.explain(rejected.reason()));
        }
        throw new IllegalStateException(
                "Nothing was decided about " + acquire.command().externalId() + ": " + outcome);
    }

    /** Releases the grant if an error occurs here, since an acquire that throws must hold nothing. */
    private PermitGrant holdOrGiveBack(Acquire acquire, GrantOutcome.Granted granted, Acquire.Answer answer) {
        try {
            return hold(acquire, granted, answer);
        } catch (RuntimeException | Error failure) {
            if (!granted.replayed()) {
                releases.giveBack(granted.grant());
            }
            throw failure;
        }
    }

    private PermitGrant hold(Acquire acquire, GrantOutcome.Granted granted, Acquire.Answer answer) {
        Optional<PermitGrant> handedOver = reuse.beginHandedOver(acquire, granted);
        return handedOver.isPresent() ? handedOver.get() : holdGranted(acquire, granted, answer);
    }

    private PermitGrant holdGranted(Acquire acquire, GrantOutcome.Granted granted, Acquire.Answer answer) {
        HeldGrant state = held.register(granted.grant(), answer.asOf());
        ReuseTerms terms = acquire.reuseTerms();
        if (acquire.call().forWork() || acquire.command().isKeptAlive()) {
            state.setForWork(true);
        }
        state.setOutlivesShutdown(!acquire.call().request().isReleaseAtShutdown());
        state.setAcquiredAt(terms == null ? acquire.call().stack() : null); // a reused permit is acquired by many
        if (terms != null) {
            ReusablePermit permit = reuse.granted(terms, acquire, state, answer.asOf());
            PermitGrant firstUse = reuse.beginUse(permit);
            keepAlive(state, permit::user, terms.maxHold().plus(reuse.reuseOf(terms)), answer);
            return firstUse;
        }
        PermitGrant grant = new GrantHandle(state, granted.replayed(), operations);
        if (acquire.command().isKeptAlive()) {
            keepAlive(state, () -> grant, acquireFactory.maxHold(acquire.call().request()), answer);
        } else {
            keepAlive.watch(state, grant); // unless an earlier acquire keeps it alive
        }
        return grant;
    }

    private void keepAlive(
            HeldGrant state, Supplier<? extends @Nullable PermitGrant> user, Duration maxHold, Acquire.Answer answer) {
        state.bindTo(lease, answer.epoch());
        keepAlive.keep(state, user, Deadline.after(answer.asOf(), maxHold));
        keepAlive.confirm(state);
    }
}
