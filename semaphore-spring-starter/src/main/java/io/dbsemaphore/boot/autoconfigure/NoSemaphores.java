package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.InstanceStatus;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.admin.SemaphoreStatus.WaitingInstance;
import java.time.Instant;
import java.util.List;
import java.util.Optional;

/** Answers as on a database without semaphores, and creates none. */
final class NoSemaphores implements SemaphoreAdmin {

    @Override
    public boolean create(String name, int capacity) {
        return false;
    }

    @Override
    public void setCapacity(String name, int capacity, String changedBy, String reason) {
        throw SemaphoreNotFoundException.nothingChanged(name);
    }

    @Override
    public boolean delete(String name) {
        return false;
    }

    @Override
    public Optional<SemaphoreStatus> find(String name) {
        return Optional.empty();
    }

    @Override
    public List<SemaphoreStatus> list() {
        return List.of();
    }

    @Override
    public List<PermitHolder> holders(String name) {
        throw SemaphoreNotFoundException.nothingChanged(name);
    }

    @Override
    public List<PermitHolder> holders(String name, String containing, long afterToken, int limit) {
        throw SemaphoreNotFoundException.nothingChanged(name);
    }

    @Override
    public List<PermitUse> requests(String name, Instant from, Instant to, int limit) {
        throw SemaphoreNotFoundException.nothingChanged(name);
    }

    @Override
    public List<WaitingInstance> waiting(String name) {
        throw SemaphoreNotFoundException.nothingChanged(name);
    }

    @Override
    public List<InstanceStatus> instances() {
        return List.of();
    }

    @Override
    public Instant now() {
        return Instant.now();
    }

    @Override
    public List<CapacityChange> capacityHistory(String name, int limit) {
        return List.of();
    }

    @Override
    public List<CapacityChange> capacityHistory(String name) {
        return List.of();
    }

    @Override
    public List<Reclaim> reclaims(String name, int limit) {
        return List.of();
    }

    @Override
    public ReleaseOutcome forceRelease(String externalId, String releasedBy, String reason) {
        return ReleaseOutcome.NOT_FOUND;
    }

    /** Finds nothing to do. A class of its own: otherwise there would be two beans of the type. */
    static final class Maintenance implements SemaphoreMaintenance {

        @Override
        public int releaseOrphans() {
            return 0;
        }

        @Override
        public int deleteReleasedRequests() {
            return 0;
        }

        @Override
        public int deleteCapacityHistory() {
            return 0;
        }
    }
}
