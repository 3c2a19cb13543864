package io.dbsemaphore.domain;

import java.time.LocalDateTime;

/**
 * The availability of a semaphore after a transaction that has locked its row.
 *
 * @param capacity its capacity; 0 when paused
 * @param held the number of held permits
 * @param available the number of available permits; 0 while it is held exclusively
 * @param fenceBefore the fence before the transaction
 * @param fence the fence after the transaction
 * @param readAt the database's clock when the held permits were summed
 * @param elsewhere the callers of other instances that wait
 */
public record RemainingAvailability(
        int capacity,
        long held,
        long available,
        long fenceBefore,
        long fence,
        LocalDateTime readAt,
        WaitersElsewhere elsewhere) {

    public boolean isAwaitedElsewhere() {
        return !elsewhere.isEmpty();
    }
}
