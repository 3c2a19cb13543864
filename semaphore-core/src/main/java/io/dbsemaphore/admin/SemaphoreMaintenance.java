package io.dbsemaphore.admin;

import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.spi.CapacityProvider;
import io.dbsemaphore.spi.OwnerLiveness;

/**
 * The maintenance tasks, which run on a schedule and may be run by an operator at any time, on any instance. A bean;
 * thread-safe.
 *
 * <p>One instance runs the maintenance at a time: a call that finds another instance at work returns 0. Each method blocks the calling
 * thread, and splits its work into batches ({@code semaphore.maintenance.batch-size}, 800 rows), each in its own short transaction on a
 * thread of the library ({@code semaphore-database-N}). Each throws {@link SemaphoreClosedException} if this application instance is
 * stopped, and {@link org.springframework.dao.DataAccessException} if the database fails despite the retries. Batches that were committed
 * before a failure stay committed.
 */
public interface SemaphoreMaintenance {

    /**
     * Releases the requests whose holder no longer exists. Scheduled every {@code semaphore.maintenance.orphan-release-interval}
     * (5 minutes). A request is released if
     *
     * <ul>
     *   <li>its time to live has passed,
     *   <li>the instance that keeps it alive has sent no heartbeat for {@code semaphore.instance-timeout} (20 seconds),
     *   <li>an {@link OwnerLiveness} reports its owner dead, or
     *   <li>it has no time to live and was neither acquired nor renewed for {@code semaphore.maintenance.stale-after} (24 hours; 0
     *       switches this off).
     * </ul>
     *
     * <p>Also applies the capacities of a {@link CapacityProvider} to the semaphores that patterns have created, deletes expired records
     * of waiting callers, and repairs requests that were released without their permits, with a warning in the log.
     *
     * @return how many requests were released
     */
    int releaseOrphans();

    /**
     * Deletes requests that were released more than {@code semaphore.maintenance.request-retention} (7 days) ago. Their
     * external ids are forgotten: a later acquire with one of them is granted again. Scheduled every
     * {@code semaphore.maintenance.request-cleanup-interval} (4 hours).
     *
     * <p>Also deletes the audit of reclaims of that age; instances that hold nothing, a day after their lease expired; records of shares
     * that were not written for a day; and semaphores that a pattern created and nobody acquired for
     * {@code semaphore.maintenance.pattern-idle-after} (7 days).
     *
     * @return how many requests were deleted
     */
    int deleteReleasedRequests();

    /**
     * Deletes the audit of capacity changes and forced releases that is older than
     * {@code semaphore.maintenance.history-retention} (30 days). Scheduled every
     * {@code semaphore.maintenance.history-cleanup-interval} (24 hours).
     *
     * @return how many entries were deleted
     */
    int deleteCapacityHistory();

    /** The tasks of the maintenance. Each has its own schedule. */
    enum MaintenanceTask {

        /** Runs {@link SemaphoreMaintenance#releaseOrphans}. */
        ORPHAN_RELEASE,

        /** Runs {@link SemaphoreMaintenance#deleteReleasedRequests}. */
        REQUEST_CLEANUP,

        /** Runs {@link SemaphoreMaintenance#deleteCapacityHistory}. */
        HISTORY_CLEANUP
    }
}
