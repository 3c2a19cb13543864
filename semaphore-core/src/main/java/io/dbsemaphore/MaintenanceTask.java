package io.dbsemaphore;

/** What the maintenance does, each by a schedule of its own. */
public enum MaintenanceTask {

    /** {@link SemaphoreMaintenance#releaseOrphans}. */
    ORPHAN_RELEASE,

    /** {@link SemaphoreMaintenance#deleteReleasedRequests}. */
    REQUEST_CLEANUP,

    /** {@link SemaphoreMaintenance#deleteCapacityHistory}. */
    HISTORY_CLEANUP
}
