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
import java.util.function.Supplier;

/** Delegates to the current run of the engine, across its stops and starts. */
final class DatabasePermitManager implements PermitManager, GrantOperations {

    private final Supplier<EngineRun> granting;
    private final Supplier<EngineRun> current;

    /**
     * Makes it.
     *
     * @param granting the run that grants acquires; throws when the engine is stopped
     * @param current the current run, or the last one
     */
    DatabasePermitManager(Supplier<EngineRun> granting, Supplier<EngineRun> current) {
        this.granting = granting;
        this.current = current;
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
        return granting.get();
    }

    @Override
    public ReleaseOutcome release(String externalId) {
        return current.get().releases().release(externalId);
    }

    @Override
    public ReleaseOutcome release(HeldGrant grant) {
        return current.get().releases().release(grant);
    }

    @Override
    public Optional<PermitGrant> find(String externalId) {
        return current.get().grants().find(externalId);
    }

    @Override
    public PermitGrant renew(String externalId, Duration ttl) {
        return current.get().grants().renew(externalId, ttl);
    }

    @Override
    public void renew(HeldGrant grant, Duration ttl) {
        current.get().grants().renew(grant, ttl);
    }

    @Override
    public void requireHeld(PermitGrant grant) {
        current.get().grants().requireHeld(grant);
    }
}
