package io.dbsemaphore;

/** The tasks of the maintenance. Each has its own schedule. */
public enum MaintenanceTask {

    /** Runs {@link SemaphoreMaintenance#releaseOrphans}. */
    ORPHAN_RELEASE,

    /** Runs {@link SemaphoreMaintenance#deleteReleasedRequests}. */
    REQUEST_CLEANUP,

    /** Runs {@link SemaphoreMaintenance#deleteCapacityHistory}. */
    HISTORY_CLEANUP
}
