package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.engine.hold.GrantHandle;
import io.dbsemaphore.engine.hold.HeldGrant;
import io.dbsemaphore.engine.quota.ReusedGrant;
import io.dbsemaphore.spi.PermitManager;
import io.dbsemaphore.spi.PermitManager.AcquireResult;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.function.Supplier;

/**
 * The operations on grants, on the current run of the engine, across its stops and starts. Delegates acquires and releases to the run.
 * Finds, renews and checks grants itself, and ends those that it finds to be lost.
 *
 * @param granting supplies the run that grants acquires; throws if the engine is stopped
 * @param current supplies the current run, or the last one
 */
record DatabasePermitManager(Supplier<Run> granting, Supplier<Run> current)
        implements PermitManager, GrantHandle.Operations {

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        return granting.get().acquires.acquire(request, false);
    }

    @Override
    public AcquireResult acquireForWork(AcquireRequest request) {
        AcquireResult result = granting.get().acquires.acquire(request, true);
        if (result instanceof AcquireResult.Granted granted
                && granted.grant() instanceof GrantHandle handle
                && !handle.isReplayed()) { // other work may go on under the same grant
            handle.state().setWorkOfCurrentThread();
        }
        return result;
    }

    @Override
    public CompletableFuture<AcquireResult> acquireAsync(AcquireRequest request) {
        return granting.get().acquires.acquireAsync(request);
    }

    @Override
    public ReleaseOutcome release(String externalId) {
        Run run = current.get();
        if (run.quotas.isKnown(externalId)) {
            return run.quotas.findUse(externalId).map(this::release).orElse(ReleaseOutcome.ALREADY_RELEASED);
        }
        Optional<GrantHandle> handle =
                run.held.find(externalId).map(this::handleOf).or(() -> findStored(run, externalId));
        if (handle.isPresent()) {
            return release(handle.get());
        }
        return run.retry.call(() -> run.database.persistence().holds().isKnown(externalId))
                ? ReleaseOutcome.ALREADY_RELEASED
                : ReleaseOutcome.NOT_FOUND;
    }

    @Override
    public ReleaseOutcome release(GrantHandle handle) {
        Run run = current.get();
        return handle instanceof ReusedGrant use ? run.quotas.release(use) : run.releases.release(handle);
    }

    @Override
    public Optional<PermitGrant> find(String externalId) {
        Run run = current.get();
        return find(run, externalId)
                .filter(handle -> !(handle instanceof ReusedGrant)
                        || findStored(run, handle.stored().externalId()).isPresent())
                .map(handle -> handle);
    }

    /** The use of this JVM with this external id, or else the grant in the database. */
    private Optional<? extends GrantHandle> find(Run run, String externalId) {
        return run.quotas.isKnown(externalId) ? run.quotas.findUse(externalId) : findStored(run, externalId);
    }

    private Optional<GrantHandle> findStored(Run run, String externalId) {
        long asOf = System.nanoTime();
        return run.retry
                .call(() -> run.database.persistence().holds().find(externalId))
                .map(grant -> handleOf(run.held.read(grant, asOf)));
    }

    private GrantHandle handleOf(HeldGrant state) {
        return new GrantHandle(state, true, this);
    }

    @Override
    public PermitGrant renew(String externalId, Duration ttl) {
        Run run = current.get();
        Duration checkedTtl = run.acquireFactory.checkTtl(ttl);
        return require(run, externalId, Map.of()).renew(checkedTtl);
    }

    @Override
    public void renew(GrantHandle handle, Duration ttl) {
        Run run = current.get();
        Duration checkedTtl = run.acquireFactory.checkTtl(ttl);
        bind(handle); // otherwise the next use would have this time to live
        boolean renewed = !handle.state().isReleased()
                && run.retry.call(() -> {
                    long asOf = System.nanoTime();
                    Optional<StoredGrant> grant =
                            run.database.persistence().holds().renew(handle.stored(), checkedTtl);
                    grant.ifPresent(found -> {
                        handle.state().update(found, asOf); // a grant of another JVM is known to this handle only
                        run.held.find(found).ifPresent(own -> own.update(found, asOf));
                    });
                    return grant.isPresent();
                });
        if (!renewed) {
            throw lost(run, handle);
        }
        if (run.held.holds(handle.state())) {
            run.keepAlive.watch(handle); // it may have had no time to live before
        }
    }

    @Override
    public List<String> firstHolders(String name) {
        return current.get().firstHolders.of(name);
    }

    @Override
    public void requireHeld(PermitGrant grant) {
        Run run = current.get();
        // a decorated handle is looked up by its id; the id of a use is not known to another engine
        GrantHandle handle = grant instanceof GrantHandle own && (own.isOf(this) || own instanceof ReusedGrant)
                ? own
                : require(run, grant.externalId(), grant.permits());
        bind(handle); // the end of a use waits for the caller's transaction, so that no other use begins before
        if (handle.state().isReleased() || !run.database.heldCheck().lockIfHeld(handle.stored())) {
            throw lost(run, handle);
        }
    }

    private GrantHandle require(Run run, String externalId, Map<String, Integer> permits) {
        boolean ofUse = run.quotas.isKnown(externalId);
        Optional<HeldGrant> own = ofUse ? Optional.empty() : run.held.find(externalId);
        Optional<? extends GrantHandle> handle = ofUse
                ? run.quotas.findUse(externalId)
                : own.filter(HeldGrant::isHeld) // preferred to a read, which a former primary may answer
                        .map(this::handleOf)
                        .or(() -> findStored(run, externalId));
        if (handle.isEmpty()) {
            own.map(this::handleOf).ifPresent(run.keepAlive::lose); // but not a grant that was acquired meanwhile
            throw new PermitLostException(externalId, permits);
        }
        return handle.get();
    }

    /** Ensures that the end of a reused permit's use is written to the database before another use begins. Fails if this use has ended. */
    private static void bind(GrantHandle handle) {
        if (handle instanceof ReusedGrant use && !use.bind()) {
            throw new PermitLostException(use.externalId(), use.permits());
        }
    }

    /** Ends a lost grant for all handles in this JVM, and returns the exception for the caller. */
    private static PermitLostException lost(Run run, GrantHandle handle) {
        run.keepAlive.lose(handle);
        return new PermitLostException(handle.externalId(), handle.permits());
    }
}
