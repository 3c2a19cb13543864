package io.dbsemaphore.domain;

/**
 * What is free of a semaphore, read without a lock.
 *
 * @param capacity its capacity; 0 when paused
 * @param held how many permits are held
 * @param free how many permits are free; none and fewer where less than nothing is, or it is held exclusively
 * @param fence its fence; 0 where the semaphore has been deleted
 */
public record PolledAvailability(int capacity, long held, long free, long fence) {

    /** Deleted: whoever waits for it is to be told. */
    public static final PolledAvailability DELETED = new PolledAvailability(0, 0, Long.MAX_VALUE / 2, 0);

    /** Whether there is no such semaphore any more. */
    public boolean isDeleted() {
        return equals(DELETED);
    }
}
