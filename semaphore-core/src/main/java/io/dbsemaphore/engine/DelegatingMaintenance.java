package io.dbsemaphore.engine;

import io.dbsemaphore.admin.SemaphoreMaintenance;

/** Delegates to the maintenance of the current run, across stops and starts of the engine. */
final class DelegatingMaintenance implements SemaphoreMaintenance {

    private final EngineRuns runs;

    DelegatingMaintenance(EngineRuns runs) {
        this.runs = runs;
    }

    @Override
    public int releaseOrphans() {
        return runs.current().maintenance().releaseOrphans();
    }

    @Override
    public int deleteReleasedRequests() {
        return runs.current().maintenance().deleteReleasedRequests();
    }

    @Override
    public int deleteCapacityHistory() {
        return runs.current().maintenance().deleteCapacityHistory();
    }
}
