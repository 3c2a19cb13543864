package io.dbsemaphore.domain;

/**
 * The availability of a semaphore, read without a lock.
 *
 * @param capacity its capacity; 0 when paused
 * @param held the number of held permits
 * @param available the number of available permits; 0 if it is held exclusively, negative if more is held than a lowered
 *     capacity
 * @param fence its fence; 0 if the semaphore has been deleted
 */
public record PolledAvailability(int capacity, long held, long available, long fence) {

    /** The semaphore has been deleted. The availability is unbounded, so that waiters try again and are rejected. */
    public static final PolledAvailability DELETED = new PolledAvailability(0, 0, Long.MAX_VALUE / 2, 0);

    /** Whether the semaphore has been deleted. */
    public boolean isDeleted() {
        return equals(DELETED);
    }
}
