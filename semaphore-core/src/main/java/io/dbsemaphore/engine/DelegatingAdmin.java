package io.dbsemaphore.engine;

import io.dbsemaphore.CapacityChange;
import io.dbsemaphore.InstanceStatus;
import io.dbsemaphore.PermitHolder;
import io.dbsemaphore.PermitUse;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreStatus;
import io.dbsemaphore.WaitingInstance;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Delegates to the administration of the current run, across stops and starts of the engine. */
final class DelegatingAdmin implements SemaphoreAdmin {

    private final EngineRuns runs;

    DelegatingAdmin(EngineRuns runs) {
        this.runs = runs;
    }

    @Override
    public boolean create(String name, int capacity) {
        return admin().create(name, capacity);
    }

    @Override
    public void setCapacity(String name, int capacity, String changedBy, String reason) {
        admin().setCapacity(name, capacity, changedBy, reason);
    }

    @Override
    public boolean delete(String name) {
        return admin().delete(name);
    }

    @Override
    public Optional<SemaphoreStatus> find(String name) {
        return admin().find(name);
    }

    @Override
    public List<SemaphoreStatus> list() {
        return admin().list();
    }

    @Override
    public List<PermitHolder> holders(String name) {
        return admin().holders(name);
    }

    @Override
    public List<PermitHolder> holders(String name, String containing, long afterToken, int limit) {
        return admin().holders(name, containing, afterToken, limit);
    }

    @Override
    public List<WaitingInstance> waiting(String name) {
        return admin().waiting(name);
    }

    @Override
    public List<PermitUse> requests(String name, Instant from, Instant to, int limit) {
        return admin().requests(name, from, to, limit);
    }

    @Override
    public List<InstanceStatus> instances() {
        return admin().instances();
    }

    @Override
    public Instant now() {
        return admin().now();
    }

    @Override
    public List<CapacityChange> capacityHistory(String name, int limit) {
        return admin().capacityHistory(name, limit);
    }

    @Override
    public List<CapacityChange> capacityHistory(String name) {
        return admin().capacityHistory(name);
    }

    @Override
    public ReleaseOutcome forceRelease(String externalId, String releasedBy, String reason) {
        return admin().forceRelease(externalId, releasedBy, reason);
    }

    private SemaphoreAdmin admin() {
        return runs.current().admin();
    }
}
