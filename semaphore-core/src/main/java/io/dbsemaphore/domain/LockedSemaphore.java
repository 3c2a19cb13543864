package io.dbsemaphore.domain;

import java.time.LocalDateTime;
import org.jspecify.annotations.Nullable;

/**
 * The row of a semaphore, locked by the current transaction unless that only polls.
 *
 * @param fence the highest fencing token granted so far
 * @param waitersUntil until when callers may be waiting, by the database's clock; null if none has waited yet
 */
public record LockedSemaphore(
        long id,
        String name,
        int capacity,
        long fence,
        @Nullable LocalDateTime waitersUntil) {

    /** Whether the semaphore is paused, so that nothing can be acquired. */
    boolean isPaused() {
        return capacity == 0;
    }

    /** Whether callers of any instance may be waiting. */
    public boolean mayBeAwaited(LocalDateTime now) {
        return waitersUntil != null && waitersUntil.isAfter(now);
    }
}
