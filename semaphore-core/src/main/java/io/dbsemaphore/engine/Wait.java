package io.dbsemaphore.engine;

import java.time.Duration;

/**
 * How long a caller waits for room.
 *
 * @param patient whether at all
 * @param deadline when he wants to know
 */
record Wait(boolean patient, Deadline deadline) {

    static Wait of(Duration waitTime) {
        return new Wait(!waitTime.isZero(), Deadline.in(waitTime));
    }
}
