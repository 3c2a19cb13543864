package io.dbsemaphore.samples.backup.demo;

import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreStatus;

/**
 * What is allowed at the same time, over all instances.
 *
 * @param backups the capacity of the semaphore for the storage
 * @param transfers the capacity of the semaphore for the network
 */
record Limits(int backups, int transfers) {

    static Limits of(SemaphoreAdmin admin) {
        return new Limits(capacity(admin, "backup"), capacity(admin, "network"));
    }

    boolean hold(Timeline timeline) {
        return timeline.peakOfBackups() <= backups && timeline.peakOfTransfers() <= transfers;
    }

    private static int capacity(SemaphoreAdmin admin, String name) {
        return admin.find(name).map(SemaphoreStatus::capacity).orElseThrow();
    }
}
