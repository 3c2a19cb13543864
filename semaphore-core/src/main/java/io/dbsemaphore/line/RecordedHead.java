package io.dbsemaphore.line;

import java.time.Duration;
import java.time.LocalDateTime;
import java.util.List;

/**
 * The callers of one instance that wait for a semaphore, as stored in the database.
 *
 * @param first the callers with the smallest places, in order; empty if the record cannot be read
 * @param size the number of all callers
 * @param expiresAt until when they count, by the database's clock, unless their instance confirms them
 */
public record RecordedHead(long semaphoreId, long instance, List<Waiter> first, int size, LocalDateTime expiresAt) {

    /** Longer than an instance confirms its callers for, plus the largest difference between the clocks of a cluster. */
    private static final Duration MAX_VALID = Duration.ofSeconds(3);

    public RecordedHead {
        first = List.copyOf(first);
    }

    /** Whether the callers count. If the expiry is too far away, the clock was set back, and they do not. */
    boolean isValid(LocalDateTime now) {
        return expiresAt.isAfter(now) && expiresAt.isBefore(now.plus(MAX_VALID));
    }

    /** Whether the callers count for that time without being confirmed. */
    public boolean isValidFor(Duration time, LocalDateTime now) {
        return isValid(now) && !expiresAt.isBefore(now.plus(time));
    }
}
