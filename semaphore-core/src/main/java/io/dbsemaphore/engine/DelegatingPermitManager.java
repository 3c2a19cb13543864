package io.dbsemaphore.engine;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.AcquireResult;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitManager;
import io.dbsemaphore.ReleaseOutcome;
import java.time.Duration;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;

/** The permit manager of the run of the moment, through stops and starts of the engine. */
final class DelegatingPermitManager implements PermitManager {

    private final EngineRuns runs;

    DelegatingPermitManager(EngineRuns runs) {
        this.runs = runs;
    }

    @Override
    public AcquireResult acquire(AcquireRequest request) {
        return runs.granting().permitManager().acquire(request);
    }

    @Override
    public AcquireResult acquireForWork(AcquireRequest request) {
        return runs.granting().permitManager().acquireForWork(request);
    }

    @Override
    public CompletableFuture<AcquireResult> acquireAsync(AcquireRequest request) {
        return runs.granting().permitManager().acquireAsync(request);
    }

    @Override
    public ReleaseOutcome release(String externalId) {
        return current().release(externalId);
    }

    @Override
    public Optional<PermitGrant> find(String externalId) {
        return current().find(externalId);
    }

    @Override
    public PermitGrant renew(String externalId, Duration ttl) {
        return current().renew(externalId, ttl);
    }

    @Override
    public void requireHeld(PermitGrant grant) {
        current().requireHeld(grant);
    }

    private PermitManager current() {
        return runs.current().permitManager();
    }
}
