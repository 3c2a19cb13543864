package io.dbsemaphore.line;

import java.time.Duration;
import java.time.LocalDateTime;
import java.util.List;

/**
 * The callers of one instance that wait for a semaphore, as stored in the database.
 *
 * @param first the callers with the smallest places, in order; empty if the record cannot be read
 * @param size the number of all callers
 * @param expiresAt when the record expires, by the database's clock, unless the instance confirms it
 */
public record RecordedHead(long semaphoreId, long instance, List<Waiter> first, int size, LocalDateTime expiresAt) {

    /** Longer than the time for which an instance confirms its callers, plus the largest difference between the clocks of a cluster. */
    private static final Duration MAX_VALID = Duration.ofSeconds(3);

    public RecordedHead {
        first = List.copyOf(first);
    }

    /** Whether the record is valid. If the expiry is too far away, the clock was set back, and the record is not valid. */
    boolean isValid(LocalDateTime now) {
        return expiresAt.isAfter(now) && expiresAt.isBefore(now.plus(MAX_VALID));
    }

    /** Whether the record stays valid for this time without being confirmed. */
    public boolean isValidFor(Duration time, LocalDateTime now) {
        return isValid(now) && !expiresAt.isBefore(now.plus(time));
    }
}
