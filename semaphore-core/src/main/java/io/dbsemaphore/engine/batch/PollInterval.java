package io.dbsemaphore.engine.batch;

import java.time.Duration;

/** How long to wait between two polls of a semaphore that callers wait for. */
final class PollInterval {

    /** The longest interval of an instance with up to two instances ahead of it; with more ahead, up to four times this. */
    private static final long LONGEST = Duration.ofMillis(100).toNanos();

    private static final long SHORTEST = Duration.ofMillis(2).toNanos();

    private PollInterval() {}

    /**
     * The interval between two polls of one semaphore. If this instance is next, it is the back-off; it grows with the number of instances
     * ahead, so that many instances poll the database about as often as few. If permits are granted often, the poll comes when the turn of
     * this instance is due.
     *
     * @param instancesAhead the number of instances with a caller that is served before those of this one
     * @param nanosToTurn the time until the turn of this instance
     * @param backOff the interval while nothing happens, for an instance that is next; half as long again for the one after it
     */
    static Duration of(int instancesAhead, long nanosToTurn, Duration backOff) {
        long longest = switch (instancesAhead) {
            case 0 -> Math.min(backOff.toNanos(), LONGEST);
            case 1 -> Math.min(backOff.toNanos() * 3 / 2, LONGEST);
            default -> LONGEST << Math.min(instancesAhead - 2, 2);
        };
        return Duration.ofNanos(Math.max(SHORTEST, Math.min(longest, nanosToTurn)));
    }
}
