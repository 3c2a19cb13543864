package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.AcquireResult;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitManager;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.concurrent.StackReserve;
import io.dbsemaphore.engine.hold.GrantOperations;
import io.dbsemaphore.engine.hold.HeldGrant;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** Delegates to the current run of the engine, across its stops and starts. */
final class DatabasePermitManager implements PermitManager, GrantOperations {

    private final EngineRuns runs;

    DatabasePermitManager(EngineRuns runs) {
        this.runs = runs;
    }

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        EngineRun run = granting();
        return run.acquires().acquire(run.commands().begin(request));
    }

    @Override
    public AcquireResult acquireForWork(AcquireRequest request) {
        EngineRun run = granting();
        return run.acquires().acquire(run.commands().beginForWork(request));
    }

    @Override
    public CompletableFuture<AcquireResult> acquireAsync(AcquireRequest request) {
        EngineRun run = granting();
        return run.asyncAcquires().acquire(run.commands().begin(request));
    }

    /** A caller that has too little stack for an acquire is told so before anything that others use is touched. */
    private EngineRun granting() {
        StackReserve.require();
        return runs.granting();
    }

    @Override
    public ReleaseOutcome release(String externalId) {
        return runs.current().releases().release(externalId);
    }

    @Override
    public ReleaseOutcome release(HeldGrant grant) {
        return runs.current().releases().release(grant);
    }

    @Override
    public Optional<PermitGrant> find(String externalId) {
        return runs.current().grants().find(externalId);
    }

    @Override
    public PermitGrant renew(String externalId, Duration ttl) {
        return runs.current().grants().renew(externalId, ttl);
    }

    @Override
    public void renew(HeldGrant grant, Duration ttl) {
        runs.current().grants().renew(grant, ttl);
    }

    @Override
    public void requireHeld(PermitGrant grant) {
        runs.current().grants().requireHeld(grant);
    }
}
