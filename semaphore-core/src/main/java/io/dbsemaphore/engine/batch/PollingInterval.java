package io.dbsemaphore.engine.batch;

import java.time.Duration;

/**
 * The interval of the availability poller. The more instances are before this one, the longer it is, so that many instances poll
 * the database about as often as few. Where permits are granted often, the poller comes when the turn of this instance is due.
 */
final class PollingInterval {

    /** The longest interval of an instance that is next, or the one after it. */
    private static final long LONGEST_OF_NEXT = Duration.ofMillis(100).toNanos();

    private static final long LONGEST = Duration.ofMillis(400).toNanos();
    private static final long SHORTEST = Duration.ofMillis(2).toNanos();

    private PollingInterval() {}

    /**
     * The interval for one semaphore.
     *
     * @param instancesAhead the number of instances with a caller that is served before those of this one
     * @param nanosToTurn the time until the turn of this instance
     * @param backOff the interval while nothing happens, for an instance that is next; half as long again for the one after it
     */
    static Duration of(int instancesAhead, long nanosToTurn, Duration backOff) {
        long longest = switch (instancesAhead) {
            case 0 -> Math.min(backOff.toNanos(), LONGEST_OF_NEXT);
            case 1 -> Math.min(backOff.toNanos() * 3 / 2, LONGEST_OF_NEXT);
            default -> Math.min(LONGEST_OF_NEXT << Math.min(instancesAhead - 2, 4), LONGEST);
        };
        return Duration.ofNanos(Math.max(SHORTEST, Math.min(longest, nanosToTurn)));
    }
}
