package io.dbsemaphore.domain;

import java.time.LocalDateTime;

/**
 * The availability of a semaphore: after a transaction that has locked its row, or as a poll has read it without a lock.
 *
 * @param capacity its capacity; 0 when paused
 * @param held the number of held permits
 * @param available the number of available permits; 0 while it is held exclusively, negative if more is held than a lowered capacity
 * @param fenceBefore the fence before the transaction
 * @param fence the fence after the transaction; 0 if the semaphore has been deleted
 * @param readAt the database's clock when the held permits were summed
 * @param elsewhere the callers of other instances that wait
 * @param isRegistered whether the callers of this instance that wait are known to the others
 */
public record RemainingAvailability(
        int capacity,
        long held,
        long available,
        long fenceBefore,
        long fence,
        LocalDateTime readAt,
        WaitersElsewhere elsewhere,
        boolean isRegistered) {

    /** The semaphore has been deleted. The availability is unbounded, so that waiters try again and are rejected. */
    public static final RemainingAvailability DELETED =
            new RemainingAvailability(0, 0, Long.MAX_VALUE / 2, 0, 0, LocalDateTime.MIN, WaitersElsewhere.NONE, true);

    public boolean isDeleted() {
        return equals(DELETED);
    }

    public boolean isAwaitedElsewhere() {
        return !elsewhere.isEmpty();
    }
}
