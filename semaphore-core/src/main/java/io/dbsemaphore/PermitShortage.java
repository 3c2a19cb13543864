package io.dbsemaphore;

import java.time.Duration;
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
 * @param maxWaiting the setting {@code max-waiting} of the semaphore if it kept the caller from waiting, or ended its wait, or
 *     {@code max-waiting-per-share} if that did; otherwise empty
 * @param displaced whether the caller waited until newer ones took its place (setting {@code on-full=keep-newest})
 * @param expectedWait how much longer the caller would have waited, estimated as {@link QueuePosition#expectedWait}; empty if unknown, for
 *     example because no caller of this instance waited, or because the caller was displaced
 * @param fullShare the share of the caller if {@code max-waiting-per-share} kept it from waiting, or ended its wait; otherwise empty
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
        boolean displaced,
        Optional<Duration> expectedWait,
        Optional<String> fullShare) {

    /**
     * Creates a shortage without an expected wait.
     *
     * @param name the semaphore
     * @param capacity its capacity; 0 if it is paused
     * @param held how many permits were held
     * @param requested how many permits were requested
     * @param earliestExpiry when the first of the held permits expires; empty if none does
     * @param withheld how many available permits were withheld for callers that were already waiting
     * @param ahead how many callers waited ahead of this one
     * @param maxWaiting the setting {@code max-waiting}, if the caller could not wait because of it; otherwise empty
     * @param displaced whether newer callers took its place
     */
    public PermitShortage(
            String name,
            int capacity,
            long held,
            int requested,
            Optional<Instant> earliestExpiry,
            long withheld,
            long ahead,
            OptionalInt maxWaiting,
            boolean displaced) {
        this(
                name,
                capacity,
                held,
                requested,
                earliestExpiry,
                withheld,
                ahead,
                maxWaiting,
                displaced,
                Optional.empty(),
                Optional.empty());
    }

    /**
     * Creates a shortage for a caller with nobody known to be ahead.
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
     * Adds an expected wait.
     *
     * @param expected how much longer the caller would have waited
     * @return the changed shortage
     */
    public PermitShortage withExpectedWait(Duration expected) {
        return new PermitShortage(
                name,
                capacity,
                held,
                requested,
                earliestExpiry,
                withheld,
                ahead,
                maxWaiting,
                displaced,
                Optional.of(expected),
                fullShare);
    }

    /**
     * Adds the share that as many others wait with as may.
     *
     * @param share the share
     * @return the changed shortage
     */
    public PermitShortage withFullShare(String share) {
        return new PermitShortage(
                name,
                capacity,
                held,
                requested,
                earliestExpiry,
                withheld,
                ahead,
                maxWaiting,
                displaced,
                expectedWait,
                Optional.of(share));
    }

    /**
     * {@return whether enough permits were available, but were {@linkplain #withheld withheld} for callers that were
     * already waiting}
     */
    public boolean isWithheld() {
        return withheld > 0 && held + requested <= capacity;
    }

    /**
     * {@return whether the caller was refused before its wait time ended, because {@code max-waiting} others waited for this
     * semaphore, or {@code max-waiting-per-share} with the same share}
     */
    public boolean isQueueFull() {
        return maxWaiting.isPresent();
    }
}
