package io.dbsemaphore.engine.support;

import java.time.Duration;

/**
 * The interval of the availability poller. The more instances are before this one, the longer it is, so that many instances poll
 * the database about as often as few. Where permits are granted often, the poller comes when the turn of this instance is due.
 */
public final class PollingInterval {

    /** The longest interval of an instance that is next, or the one after it. */
    private static final Duration LONGEST_OF_NEXT = Duration.ofMillis(100);

    private static final Duration LONGEST = Duration.ofMillis(400);
    private static final Duration SHORTEST = Duration.ofMillis(2);

    private PollingInterval() {}

    /**
     * The interval for one semaphore.
     *
     * @param instancesAhead the number of instances with a caller that is served before those of this one
     * @param nanosToTurn the time until the turn of this instance
     * @param backOff the interval while nothing happens, for an instance that is next; half as long again for the one after it
     */
    public static Duration of(int instancesAhead, long nanosToTurn, Duration backOff) {
        Duration longest = switch (instancesAhead) {
            case 0 -> min(backOff, LONGEST_OF_NEXT);
            case 1 -> min(backOff.multipliedBy(3).dividedBy(2), LONGEST_OF_NEXT);
            default -> min(LONGEST_OF_NEXT.multipliedBy(1L << Math.min(instancesAhead - 2, 4)), LONGEST);
        };
        return max(SHORTEST, min(longest, Duration.ofNanos(nanosToTurn)));
    }

    private static Duration min(Duration one, Duration other) {
        return one.compareTo(other) < 0 ? one : other;
    }

    private static Duration max(Duration one, Duration other) {
        return one.compareTo(other) > 0 ? one : other;
    }
}
