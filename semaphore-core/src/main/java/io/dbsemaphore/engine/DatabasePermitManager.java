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
 * The operations on grants, on the current run of the engine, across its stops and starts. Acquires and releases are those of the run;
 * finds, renewals and checks are made here, and end grants that are found to be lost.
 */
final class DatabasePermitManager implements PermitManager, GrantHandle.Operations, ReusedGrant.Operations {

    private final Supplier<Run> granting;
    private final Supplier<Run> current;

    /**
     * Delegates to the runs of an engine.
     *
     * @param granting the run that grants acquires; throws when the engine is stopped
     * @param current the current run, or the last one
     */
    DatabasePermitManager(Supplier<Run> granting, Supplier<Run> current) {
        this.granting = granting;
        this.current = current;
    }

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        return acquire(request, false);
    }

    @Override
    public AcquireResult acquireForWork(AcquireRequest request) {
        return acquire(request, true);
    }

    private AcquireResult acquire(AcquireRequest requested, boolean forWork) {
        Run run = granting.get();
        AcquireRequest request = run.acquireFactory.withDefaults(requested);
        AcquireResult reused = run.quotas.take(request, forWork);
        return reused != null ? reused : run.acquires.acquire(run.acquireFactory.begin(request, forWork));
    }

    @Override
    public CompletableFuture<AcquireResult> acquireAsync(AcquireRequest requested) {
        Run run = granting.get();
        AcquireRequest request = run.acquireFactory.withDefaults(requested);
        AcquireResult reused = run.quotas.take(request, false);
        return reused != null
                ? CompletableFuture.completedFuture(reused)
                : run.acquires.acquireAsync(run.acquireFactory.begin(request, false));
    }

    @Override
    public ReleaseOutcome release(String externalId) {
        Run run = current.get();
        return run.quotas.isKnown(externalId)
                ? run.quotas.findUse(externalId).map(this::release).orElse(ReleaseOutcome.ALREADY_RELEASED)
                : run.releases.release(externalId);
    }

    @Override
    public ReleaseOutcome release(HeldGrant grant, PermitGrant handle) {
        // on failure the grant stays held and kept alive, so that the caller can release it later
        ReleaseService releases = current.get().releases;
        return releases.release(grant, releases.eventOf(grant), handle);
    }

    @Override
    public ReleaseOutcome release(ReusedGrant grant) {
        return current.get().quotas.release(grant);
    }

    @Override
    public Optional<PermitGrant> find(String externalId) {
        Run run = current.get();
        return run.quotas.isKnown(externalId)
                ? run.quotas
                        .findUse(externalId)
                        .filter(use -> findStored(
                                        run, use.chunk().state().grant().externalId())
                                .isPresent())
                        .map(use -> use)
                : findStored(run, externalId).map(state -> new GrantHandle(state, true, this));
    }

    private static Optional<HeldGrant> findStored(Run run, String externalId) {
        long asOf = System.nanoTime();
        return run.retry.call(() -> run.persistence.holds().find(externalId)).map(grant -> run.held.read(grant, asOf));
    }

    @Override
    public PermitGrant renew(String externalId, Duration ttl) {
        Run run = current.get();
        if (run.quotas.isKnown(externalId)) {
            return useOf(run, externalId, Map.of()).renew(ttl);
        }
        Duration checkedTtl = run.acquireFactory.checkTtl(ttl);
        long asOf = System.nanoTime();
        return run.retry
                .call(() -> run.persistence.holds().renew(externalId, checkedTtl))
                .map(grant -> renewed(run, grant, asOf))
                .orElseThrow(() -> lost(run, externalId, Map.of()));
    }

    @Override
    public void renew(HeldGrant state, PermitGrant handle, Duration ttl) {
        Run run = current.get();
        Duration checkedTtl = run.acquireFactory.checkTtl(ttl);
        PermitGrant unused = run.retry
                .call(() -> {
                    long asOf = System.nanoTime();
                    return run.persistence
                            .holds()
                            .renew(state.grant(), checkedTtl)
                            .map(grant -> {
                                state.update(grant, asOf); // if another JVM has acquired it, only this handle knows it
                                return renewed(run, grant, asOf);
                            });
                })
                .orElseThrow(() -> lost(run, state, handle));
    }

    /** Renews a grant by the handle of its current use. No other use follows, since it would have this time to live. */
    @Override
    public void renew(ReusedGrant grant, Duration ttl) {
        Duration checkedTtl = current.get().acquireFactory.checkTtl(ttl);
        bind(grant);
        renew(grant.chunk().state(), grant, checkedTtl);
    }

    private PermitGrant renewed(Run run, StoredGrant grant, long asOf) {
        PermitGrant handle = new GrantHandle(run.held.refresh(grant, asOf), true, this);
        run.keepAlive.reconsider(grant.requestId());
        return handle;
    }

    @Override
    public List<String> firstHolders(String name) {
        return current.get().firstHolders.of(name);
    }

    @Override
    public void requireHeld(PermitGrant grant) {
        Run run = current.get();
        if (grant instanceof ReusedGrant use) {
            requireHeld(run, use);
        } else if (run.quotas.isKnown(grant.externalId())) { // a decorated one
            requireHeld(run, useOf(run, grant.externalId(), grant.permits()));
        } else {
            HeldGrant state = grant instanceof GrantHandle handle && handle.isOf(this)
                    ? handle.state()
                    : findStored(run, grant.externalId())
                            .orElseThrow(() -> lost(run, grant.externalId(), grant.permits()));
            requireHeld(run, state, grant);
        }
    }

    /**
     * Checks the grant by the handle of a use, which must not have ended. The end of that use is written to the database, so that
     * it waits for the caller's transaction: another use would begin while that is still open.
     */
    private void requireHeld(Run run, ReusedGrant use) {
        bind(use);
        requireHeld(run, use.chunk().state(), use);
    }

    private void requireHeld(Run run, HeldGrant state, PermitGrant handle) {
        if (!run.database.heldCheck().lockIfHeld(state.grant())) {
            throw lost(run, state, handle);
        }
    }

    private static ReusedGrant useOf(Run run, String externalId, Map<String, Integer> permits) {
        return run.quotas.findUse(externalId).orElseThrow(() -> new PermitLostException(externalId, permits));
    }

    private static void bind(ReusedGrant use) {
        if (!use.bind()) {
            throw new PermitLostException(use.externalId(), use.permits());
        }
    }

    private static PermitLostException lost(Run run, String externalId, Map<String, Integer> permits) {
        run.lose(externalId);
        return new PermitLostException(externalId, permits);
    }

    /** Ends the grant, also for the handles of another acquire in this JVM, and explains to the caller that it is lost. */
    private PermitLostException lost(Run run, HeldGrant state, PermitGrant handle) {
        run.keepAlive.lose(state, handle);
        StoredGrant lost = state.grant();
        run.held
                .find(lost.externalId())
                .filter(other -> other.grant().requestId() == lost.requestId())
                .ifPresent(other -> run.keepAlive.lose(other, new GrantHandle(other, true, this)));
        return new PermitLostException(handle.externalId(), handle.permits());
    }
}
