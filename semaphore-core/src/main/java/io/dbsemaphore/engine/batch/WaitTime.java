package io.dbsemaphore.engine.batch;

import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;

/**
 * How long a caller waits for room.
 *
 * @param willingToWait whether at all
 * @param deadline when he wants to know
 */
public record WaitTime(boolean willingToWait, Deadline deadline) {

    public static WaitTime of(Duration waitTime) {
        return new WaitTime(!waitTime.isZero(), Deadline.in(waitTime));
    }
}
