package io.dbsemaphore.engine.support;

import java.time.Duration;

/**
 * How long a caller waits for permits.
 *
 * @param willingToWait whether the caller waits at all
 * @param deadline when the wait ends
 */
public record WaitTime(boolean willingToWait, Deadline deadline) {

    public static WaitTime of(Duration waitTime) {
        return new WaitTime(!waitTime.isZero(), Deadline.in(waitTime));
    }
}
