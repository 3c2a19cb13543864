package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.AcquireResult;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.PermitManager;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.persistence.GrantOrder;
import io.dbsemaphore.persistence.GrantOutcome;
import io.dbsemaphore.persistence.RenewTransaction;
import io.dbsemaphore.persistence.StoredGrant;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** The permits of a database, as this JVM acquires and releases them. Reads top to bottom: each step is elsewhere. */
final class DatabasePermitManager implements PermitManager, GrantOperations {

    private final OrderFactory orders;
    private final Intake intake;
    private final PatternSemaphores patterns;
    private final Granter granter;
    private final AsyncAcquires async;
    private final Releaser releaser;
    private final Renewals renewals;
    private final RenewTransaction reads;
    private final TransientRetry retry;
    private final HeldGrants held;
    private final KeepAlive keepAlive;
    private final InstanceLease lease;
    private final HeldCheck heldCheck;
    private final CheckedGrants checked;
    private final Listeners listeners;
    private final Supplier<DatabasePermitManager> current;

    DatabasePermitManager(
            OrderFactory orders,
            Intake intake,
            PatternSemaphores patterns,
            Granter granter,
            AsyncAcquires async,
            Releaser releaser,
            Renewals renewals,
            RenewTransaction reads,
            TransientRetry retry,
            HeldGrants held,
            KeepAlive keepAlive,
            InstanceLease lease,
            HeldCheck heldCheck,
            CheckedGrants checked,
            Listeners listeners,
            Supplier<DatabasePermitManager> current) {
        this.orders = orders;
        this.intake = intake;
        this.patterns = patterns;
        this.granter = granter;
        this.async = async;
        this.releaser = releaser;
        this.renewals = renewals;
        this.reads = reads;
        this.retry = retry;
        this.held = held;
        this.keepAlive = keepAlive;
        this.lease = lease;
        this.heldCheck = heldCheck;
        this.checked = checked;
        this.listeners = listeners;
        this.current = current;
    }

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        return acquire(request, true, request.keepAlive().orElse(false), false);
    }

    @Override
    public AcquireResult acquireForWork(AcquireRequest request) {
        return acquire(request, request.isAdopt(), request.keepAlive().orElse(true), true);
    }

    @Override
    public CompletableFuture<AcquireResult> acquireAsync(AcquireRequest request) {
        Attempt attempt = attempt(request, true, request.keepAlive().orElse(false), false);
        return async.begin(attempt.order(), attempt.upTo(), answer -> settle(attempt, answer));
    }

    @Override
    public ReleaseOutcome release(String externalId) {
        return releaser.release(externalId);
    }

    @Override
    public ReleaseOutcome release(GrantState grant) {
        return releaser.release(grant);
    }

    @Override
    public Optional<PermitGrant> find(String externalId) {
        long asOf = System.nanoTime();
        return Uninterrupted.call(() -> retry.call(() -> reads.find(externalId)))
                .map(grant -> new HeldGrant(held.refresh(grant, asOf), true, current));
    }

    @Override
    public PermitGrant renew(String externalId, Duration ttl) {
        Duration checkedTtl = orders.checkTtl(ttl);
        long asOf = System.nanoTime();
        Optional<StoredGrant> renewed = renewals.renew(externalId, checkedTtl);
        if (renewed.isEmpty()) {
            loseHeld(externalId);
            throw new PermitLostException(externalId, Map.of());
        }
        PermitGrant handle = new HeldGrant(held.refresh(renewed.get(), asOf), true, current);
        keepAlive.reconsider(renewed.get().requestId());
        return handle;
    }

    @Override
    public void requireHeld(PermitGrant grant) {
        StoredGrant stored = grant instanceof HeldGrant handle
                ? handle.stored()
                : retry.call(() -> reads.find(grant.externalId())).orElseThrow(() -> lost(grant));
        if (!heldCheck.isHeld(stored)) {
            throw lost(grant);
        }
        checked.add(stored.requestId(), stored.externalId());
    }

    /** Ends what this JVM knows of the grant, and tells of it if that was held. */
    private PermitLostException lost(PermitGrant grant) {
        loseHeld(grant.externalId());
        if (grant instanceof HeldGrant handle && handle.isOf(current)) {
            keepAlive.lose(handle.state(), handle);
        }
        return new PermitLostException(grant.externalId(), grant.permits());
    }

    /** Ends what this JVM holds under this external id, since the database says that it is held no longer. */
    void loseHeld(String externalId) {
        held.find(externalId).ifPresent(state -> keepAlive.lose(state, new HeldGrant(state, true, current)));
    }

    private AcquireResult acquire(AcquireRequest request, boolean replayable, boolean keepAlive, boolean forWork) {
        Attempt attempt = attempt(request, replayable, keepAlive, forWork);
        return intake.admit(() ->
                settle(attempt, patterns.grant(() -> granter.grant(attempt.order(), attempt.upTo()))));
    }

    /** An acquire that begins. */
    private record Attempt(
            AcquireRequest request, GrantOrder order, Wait upTo, long begunAt, boolean kept, boolean forWork) {}

    private Attempt attempt(AcquireRequest request, boolean replayable, boolean keepAlive, boolean forWork) {
        boolean kept = keepAlive && !request.isWithoutTtl();
        return new Attempt(
                request,
                orders.order(request, replayable, kept),
                Wait.of(request.waitTime()),
                System.nanoTime(),
                kept,
                forWork);
    }

    private AcquireResult settle(Attempt attempt, Grants.Answer answer) {
        AcquireRequest request = attempt.request();
        GrantOrder order = attempt.order();
        GrantOutcome outcome = answer.outcome();
        Duration waited = Duration.ofNanos(System.nanoTime() - attempt.begunAt());
        if (outcome instanceof GrantOutcome.Granted granted) {
            PermitGrant handle = holdOrGiveBack(request, granted, answer, attempt.kept(), attempt.forWork());
            listeners.tell(listener -> listener.acquired(handle, waited));
            if (order.refusals() > 0) {
                listeners.tell(listener -> listener.waited(handle, waited));
            }
            return new AcquireResult.Granted(handle);
        }
        if (outcome instanceof GrantOutcome.Refused refused) {
            listeners.tell(listener -> listener.refused(request, refused.shortages(), waited));
            return new AcquireResult.Unavailable(refused.shortages());
        }
        if (outcome instanceof GrantOutcome.Rejected rejected) {
            throw rejected.reason();
        }
        throw new IllegalStateException("Nothing was decided about " + order.externalId() + ": " + outcome);
    }

    /** An acquire that throws holds nothing, whatever it is that went wrong here. */
    private PermitGrant holdOrGiveBack(
            AcquireRequest request, GrantOutcome.Granted granted, Grants.Answer answer, boolean kept, boolean forWork) {
        try {
            return hold(request, granted, answer, kept, forWork);
        } catch (RuntimeException | Error failure) {
            if (!granted.replayed()) {
                releaser.giveBack(granted.grant());
            }
            throw failure;
        }
    }

    private PermitGrant hold(
            AcquireRequest request, GrantOutcome.Granted granted, Grants.Answer answer, boolean kept, boolean forWork) {
        GrantState state = held.register(granted.grant(), answer.asOf());
        PermitGrant grant = new HeldGrant(state, granted.replayed(), current);
        if (forWork || kept) {
            state.markForWork();
        }
        if (kept) {
            state.bindTo(lease, answer.lapses());
            keepAlive.keep(state, grant, orders.maxHold(request));
            keepAlive.settle(state);
        } else if (granted.replayed()) {
            keepAlive.reconsider(granted.grant()
                    .requestId()); // what an earlier acquire keeps alive may have got another time to live
        }
        return grant;
    }
}
