package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.AcquireResult;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.PermitManager;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.engine.batch.Granter;
import io.dbsemaphore.engine.batch.Renewals;
import io.dbsemaphore.engine.batch.WaitTime;
import io.dbsemaphore.engine.hold.CheckedGrants;
import io.dbsemaphore.engine.hold.GrantHandle;
import io.dbsemaphore.engine.hold.GrantOperations;
import io.dbsemaphore.engine.hold.GrantRegistry;
import io.dbsemaphore.engine.hold.HeldCheck;
import io.dbsemaphore.engine.hold.HeldGrant;
import io.dbsemaphore.engine.hold.InstanceLease;
import io.dbsemaphore.engine.hold.KeepAlive;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.engine.support.Retries;
import io.dbsemaphore.engine.support.Uninterruptibles;
import io.dbsemaphore.persistence.RenewTransaction;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/** The permits of a database, as this JVM acquires and releases them. Reads top to bottom: each step is elsewhere. */
final class DatabasePermitManager implements PermitManager, GrantOperations {

    private final AcquireCommandFactory commands;
    private final AdmissionGate intake;
    private final PatternSemaphoreCreator patterns;
    private final AcquireService granter;
    private final AsyncAcquireService async;
    private final ReleaseService releaser;
    private final Renewals renewals;
    private final RenewTransaction reads;
    private final Retries retry;
    private final GrantRegistry held;
    private final KeepAlive keepAlive;
    private final InstanceLease lease;
    private final HeldCheck heldCheck;
    private final CheckedGrants checked;
    private final ListenerNotifier listeners;
    private final Supplier<DatabasePermitManager> current;

    DatabasePermitManager(
            AcquireCommandFactory commands,
            AdmissionGate intake,
            PatternSemaphoreCreator patterns,
            AcquireService granter,
            AsyncAcquireService async,
            ReleaseService releaser,
            Renewals renewals,
            RenewTransaction reads,
            Retries retry,
            GrantRegistry held,
            KeepAlive keepAlive,
            InstanceLease lease,
            HeldCheck heldCheck,
            CheckedGrants checked,
            ListenerNotifier listeners,
            Supplier<DatabasePermitManager> current) {
        this.commands = commands;
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
        return async.begin(attempt.command(), attempt.upTo(), answer -> settle(attempt, answer));
    }

    @Override
    public ReleaseOutcome release(String externalId) {
        return releaser.release(externalId);
    }

    @Override
    public ReleaseOutcome release(HeldGrant grant) {
        return releaser.release(grant);
    }

    @Override
    public Optional<PermitGrant> find(String externalId) {
        long asOf = System.nanoTime();
        return Uninterruptibles.call(() -> retry.call(() -> reads.find(externalId)))
                .map(grant -> new GrantHandle(held.refresh(grant, asOf), true, current));
    }

    @Override
    public PermitGrant renew(String externalId, Duration ttl) {
        Duration checkedTtl = commands.checkTtl(ttl);
        long asOf = System.nanoTime();
        Optional<StoredGrant> renewed = renewals.renew(externalId, checkedTtl);
        if (renewed.isEmpty()) {
            loseHeld(externalId);
            throw new PermitLostException(externalId, Map.of());
        }
        PermitGrant handle = new GrantHandle(held.refresh(renewed.get(), asOf), true, current);
        keepAlive.reconsider(renewed.get().requestId());
        return handle;
    }

    @Override
    public void requireHeld(PermitGrant grant) {
        StoredGrant stored = grant instanceof GrantHandle handle
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
        if (grant instanceof GrantHandle handle && handle.isOf(current)) {
            keepAlive.lose(handle.state(), handle);
        }
        return new PermitLostException(grant.externalId(), grant.permits());
    }

    /** Ends what this JVM holds under this external id, since the database says that it is held no longer. */
    void loseHeld(String externalId) {
        held.find(externalId).ifPresent(state -> keepAlive.lose(state, new GrantHandle(state, true, current)));
    }

    private AcquireResult acquire(AcquireRequest request, boolean replayable, boolean keepAlive, boolean forWork) {
        Attempt attempt = attempt(request, replayable, keepAlive, forWork);
        return intake.admit(() ->
                settle(attempt, patterns.grant(() -> granter.grant(attempt.command(), attempt.upTo()))));
    }

    /** An acquire that begins. */
    private record Attempt(
            AcquireRequest request,
            AcquireCommand command,
            WaitTime upTo,
            long begunAt,
            boolean keptAlive,
            boolean forWork) {}

    private Attempt attempt(AcquireRequest request, boolean replayable, boolean keepAlive, boolean forWork) {
        boolean keptAlive = keepAlive && !request.isWithoutTtl();
        return new Attempt(
                request,
                commands.command(request, replayable, keptAlive),
                WaitTime.of(request.waitTime()),
                System.nanoTime(),
                keptAlive,
                forWork);
    }

    private AcquireResult settle(Attempt attempt, Granter.Answer answer) {
        AcquireRequest request = attempt.request();
        AcquireCommand command = attempt.command();
        GrantOutcome outcome = answer.outcome();
        Duration waited = Duration.ofNanos(System.nanoTime() - attempt.begunAt());
        if (outcome instanceof GrantOutcome.Granted granted) {
            PermitGrant handle = holdOrGiveBack(request, granted, answer, attempt.keptAlive(), attempt.forWork());
            listeners.tell(listener -> listener.acquired(handle, waited));
            if (command.refusals() > 0) {
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
        throw new IllegalStateException("Nothing was decided about " + command.externalId() + ": " + outcome);
    }

    /** An acquire that throws holds nothing, whatever it is that went wrong here. */
    private PermitGrant holdOrGiveBack(
            AcquireRequest request,
            GrantOutcome.Granted granted,
            Granter.Answer answer,
            boolean keptAlive,
            boolean forWork) {
        try {
            return hold(request, granted, answer, keptAlive, forWork);
        } catch (RuntimeException | Error failure) {
            if (!granted.replayed()) {
                releaser.giveBack(granted.grant());
            }
            throw failure;
        }
    }

    private PermitGrant hold(
            AcquireRequest request,
            GrantOutcome.Granted granted,
            Granter.Answer answer,
            boolean keptAlive,
            boolean forWork) {
        HeldGrant state = held.register(granted.grant(), answer.asOf());
        PermitGrant grant = new GrantHandle(state, granted.replayed(), current);
        if (forWork || keptAlive) {
            state.markForWork();
        }
        if (keptAlive) {
            state.bindTo(lease, answer.epoch());
            keepAlive.keep(state, grant, commands.maxHold(request));
            keepAlive.settle(state);
        } else if (granted.replayed()) {
            keepAlive.reconsider(granted.grant()
                    .requestId()); // what an earlier acquire keeps alive may have got another time to live
        }
        return grant;
    }
}
