package io.dbsemaphore.domain;

import io.dbsemaphore.line.ShareTags;
import io.dbsemaphore.line.WaitersElsewhere;
import java.time.LocalDateTime;
import org.jspecify.annotations.Nullable;

/**
 * The availability of a semaphore after a transaction that has locked its row, or as read by a poll without a lock.
 *
 * @param capacity its capacity; 0 when paused
 * @param held the number of held permits
 * @param available the number of available permits; 0 while it is held exclusively, negative if a lowered capacity is exceeded
 * @param fenceBefore the fence before the transaction
 * @param fence the fence after the transaction; 0 if the semaphore has been deleted
 * @param readAt the database's clock when the held permits were summed
 * @param elsewhere the waiting callers of other instances
 * @param isRegistered whether the other instances know the waiting callers of this one
 * @param tags the tags of the waiting callers' shares, as far as they were read; null if none was
 */
public record RemainingAvailability(
        int capacity,
        long held,
        long available,
        long fenceBefore,
        long fence,
        LocalDateTime readAt,
        WaitersElsewhere elsewhere,
        boolean isRegistered,
        @Nullable ShareTags tags) {

    /** The availability of a deleted semaphore: unbounded, so that waiting callers try again and are rejected. */
    public static final RemainingAvailability DELETED = new RemainingAvailability(
            0, 0, Long.MAX_VALUE / 2, 0, 0, LocalDateTime.MIN, WaitersElsewhere.NONE, true, null);

    /** The availability of a semaphore without shares. */
    public RemainingAvailability(
            int capacity,
            long held,
            long available,
            long fenceBefore,
            long fence,
            LocalDateTime readAt,
            WaitersElsewhere elsewhere,
            boolean isRegistered) {
        this(capacity, held, available, fenceBefore, fence, readAt, elsewhere, isRegistered, null);
    }

    public boolean isDeleted() {
        return equals(DELETED);
    }

    public boolean isAwaitedElsewhere() {
        return !elsewhere.isEmpty();
    }
}
