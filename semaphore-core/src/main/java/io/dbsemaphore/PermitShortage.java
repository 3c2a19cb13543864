package io.dbsemaphore;

import java.time.Instant;
import java.util.Optional;
import java.util.OptionalInt;

/**
 * The state of one semaphore of an acquire at the time it was refused.
 *
 * @param name the semaphore
 * @param capacity its capacity; 0 if it is paused
 * @param held how many permits were held
 * @param requested how many permits were requested; the capacity for an exclusive acquire
 * @param earliestExpiry when the first of the held permits may be reclaimed, by the database's clock, unless it is renewed
 *     or kept alive until then; empty if no held permit expires
 * @param withheld how many available permits were withheld for callers that were already waiting, in this or other
 *     instances; some of these may wait for other semaphores, too
 * @param ahead how many callers waited ahead of this one; if the {@linkplain #isQueueFull queue was full}, how many others waited. Of
 *     another instance only the first 16 are known to be ahead, so that this is a lower bound if more wait there
 * @param maxWaiting the setting {@code max-waiting} of the semaphore, if the caller could not wait, or no longer, because of it; otherwise
 *     empty
 * @param displaced whether the caller waited until newer ones took its place, by the setting {@code on-full=keep-newest}
 */
public record PermitShortage(
        String name,
        int capacity,
        long held,
        int requested,
        Optional<Instant> earliestExpiry,
        long withheld,
        long ahead,
        OptionalInt maxWaiting,
        boolean displaced) {

    /**
     * Creates a shortage for a caller that nobody waited ahead of, as far as is known.
     *
     * @param name the semaphore
     * @param capacity its capacity; 0 if it is paused
     * @param held how many permits were held
     * @param requested how many permits were requested
     * @param earliestExpiry when the first of the held permits expires; empty if none does
     * @param withheld how many available permits were withheld for callers that were already waiting
     */
    public PermitShortage(
            String name, int capacity, long held, int requested, Optional<Instant> earliestExpiry, long withheld) {
        this(name, capacity, held, requested, earliestExpiry, withheld, 0, OptionalInt.empty(), false);
    }

    /**
     * Creates a shortage without withheld permits.
     *
     * @param name the semaphore
     * @param capacity its capacity; 0 if it is paused
     * @param held how many permits were held
     * @param requested how many permits were requested
     * @param earliestExpiry when the first of the held permits expires; empty if none does
     */
    public PermitShortage(String name, int capacity, long held, int requested, Optional<Instant> earliestExpiry) {
        this(name, capacity, held, requested, earliestExpiry, 0);
    }

    /**
     * {@return whether enough permits were available, but were {@linkplain #withheld withheld} for callers that were
     * already waiting}
     */
    public boolean isWithheld() {
        return withheld > 0 && held + requested <= capacity;
    }

    /**
     * {@return whether the caller was refused before its wait time had passed, since as many others waited for this semaphore as may wait}
     */
    public boolean isQueueFull() {
        return maxWaiting.isPresent();
    }
}
