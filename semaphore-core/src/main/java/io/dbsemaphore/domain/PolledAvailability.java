package io.dbsemaphore.domain;

/**
 * What is free of a semaphore, read without a lock.
 *
 * @param free how many permits are free; none and fewer where less than nothing is, or it is held exclusively
 * @param fence its fence; 0 where the semaphore has been deleted
 */
public record PolledAvailability(long free, long fence) {

    /** Deleted: whoever waits for it is to be told. */
    public static final PolledAvailability DELETED = new PolledAvailability(Long.MAX_VALUE / 2, 0);
}
