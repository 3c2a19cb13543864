package io.dbsemaphore;

/**
 * What the schedule does, and an operator may: a bean, safe to call from any instance at any time. Of all instances one
 * works at a time; a call that finds another at work returns 0. Each works in batches, every batch a short transaction
 * of its own.
 */
public interface SemaphoreMaintenance {

    /**
     * Releases requests whose holder is gone: the time to live has passed, the heartbeat of its JVM has stopped, its
     * owner is dead, or it has no time to live and was neither acquired nor renewed for longer than
     * {@code semaphore.maintenance.stale-after}.
     *
     * @return how many requests were released
     */
    int releaseOrphans();

    /**
     * Deletes requests that were released longer ago than {@code semaphore.maintenance.request-retention}. Their
     * external ids are forgotten with them: a later acquire with one is granted anew.
     *
     * @return how many requests were deleted
     */
    int deleteReleasedRequests();

    /**
     * Deletes the audit of capacities that is older than {@code semaphore.maintenance.history-retention}.
     *
     * @return how many changes were deleted
     */
    int deleteCapacityHistory();
}
