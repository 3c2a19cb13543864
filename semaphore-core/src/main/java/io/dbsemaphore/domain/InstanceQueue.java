package io.dbsemaphore.domain;

import java.time.LocalDateTime;
import java.util.List;

/**
 * The callers of one instance that wait for a semaphore, as stored in the database.
 *
 * @param first those that have waited longest, in order
 * @param size the number of all
 * @param expiresAt until when they count, by the database's clock, unless their instance confirms them
 */
public record InstanceQueue(long semaphoreId, long instance, List<Waiter> first, int size, LocalDateTime expiresAt) {

    /** Makes a defensive copy. */
    public InstanceQueue {
        first = List.copyOf(first);
    }

    boolean isValid(LocalDateTime now) {
        return expiresAt.isAfter(now);
    }
}
