package io.dbsemaphore.domain;

import java.time.LocalDateTime;

/**
 * The availability of a semaphore, read without a lock.
 *
 * @param capacity its capacity; 0 when paused
 * @param held the number of held permits
 * @param available the number of available permits; 0 if it is held exclusively, negative if more is held than a lowered
 *     capacity
 * @param fence its fence; 0 if the semaphore has been deleted
 * @param readAt the database's clock when it was read
 * @param elsewhere the callers of other instances that wait
 * @param isRegistered whether the callers of this instance that wait are known to the others
 */
public record PolledAvailability(
        int capacity,
        long held,
        long available,
        long fence,
        LocalDateTime readAt,
        WaitersElsewhere elsewhere,
        boolean isRegistered) {

    /** The semaphore has been deleted. The availability is unbounded, so that waiters try again and are rejected. */
    public static final PolledAvailability DELETED =
            new PolledAvailability(0, 0, Long.MAX_VALUE / 2, 0, LocalDateTime.MIN, WaitersElsewhere.NONE, true);

    public boolean isDeleted() {
        return equals(DELETED);
    }
}
