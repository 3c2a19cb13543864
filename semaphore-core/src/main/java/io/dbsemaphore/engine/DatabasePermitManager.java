package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.ReleaseOutcome;
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

/** Delegates to the current run of the engine, across its stops and starts. */
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
    public AcquireResult acquire(AcquireRequest requested) {
        Run run = granting.get();
        AcquireRequest request = run.acquireFactory().withDefaults(requested);
        AcquireResult reused = run.quotas().take(request, false);
        return reused != null
                ? reused
                : run.acquires().acquire(run.acquireFactory().begin(request));
    }

    @Override
    public AcquireResult acquireForWork(AcquireRequest requested) {
        Run run = granting.get();
        AcquireRequest request = run.acquireFactory().withDefaults(requested);
        AcquireResult reused = run.quotas().take(request, true);
        return reused != null
                ? reused
                : run.acquires().acquire(run.acquireFactory().beginForWork(request));
    }

    @Override
    public CompletableFuture<AcquireResult> acquireAsync(AcquireRequest requested) {
        Run run = granting.get();
        AcquireRequest request = run.acquireFactory().withDefaults(requested);
        AcquireResult reused = run.quotas().take(request, false);
        if (reused != null) {
            return CompletableFuture.completedFuture(reused);
        }
        return run.acquires().acquireAsync(run.acquireFactory().begin(request));
    }

    @Override
    public ReleaseOutcome release(String externalId) {
        Run run = current.get();
        return run.quotas().isKnown(externalId)
                ? run.quotas().findUse(externalId).map(this::release).orElse(ReleaseOutcome.ALREADY_RELEASED)
                : run.releases().release(externalId);
    }

    @Override
    public ReleaseOutcome release(HeldGrant grant, PermitGrant handle) {
        // on failure the grant stays held and kept alive, so that the caller can release it later
        ReleaseService releases = current.get().releases();
        return releases.release(grant, releases.eventOf(grant), handle);
    }

    @Override
    public ReleaseOutcome release(ReusedGrant grant) {
        return current.get().quotas().release(grant);
    }

    @Override
    public Optional<PermitGrant> find(String externalId) {
        Run run = current.get();
        return run.quotas().isKnown(externalId)
                ? run.quotas().findUse(externalId).flatMap(run.heldGrants()::find)
                : run.heldGrants().find(externalId);
    }

    @Override
    public PermitGrant renew(String externalId, Duration ttl) {
        Run run = current.get();
        return run.quotas().isKnown(externalId)
                ? run.quotas()
                        .findUse(externalId)
                        .orElseThrow(() -> new PermitLostException(externalId, Map.of()))
                        .renew(ttl)
                : run.heldGrants().renew(externalId, ttl);
    }

    @Override
    public List<String> firstHolders(String name) {
        return current.get().firstHolders().of(name);
    }

    @Override
    public void renew(HeldGrant grant, PermitGrant handle, Duration ttl) {
        current.get().heldGrants().renew(grant, handle, ttl);
    }

    @Override
    public void renew(ReusedGrant grant, Duration ttl) {
        current.get().heldGrants().renew(grant, ttl);
    }

    @Override
    public void requireHeld(PermitGrant grant) {
        Run run = current.get();
        if (grant instanceof ReusedGrant use) {
            run.heldGrants().requireHeld(use);
        } else if (run.quotas().isKnown(grant.externalId())) { // a decorated one
            run.heldGrants()
                    .requireHeld(run.quotas()
                            .findUse(grant.externalId())
                            .orElseThrow(() -> new PermitLostException(grant.externalId(), grant.permits())));
        } else {
            run.heldGrants().requireHeld(grant);
        }
    }
}
