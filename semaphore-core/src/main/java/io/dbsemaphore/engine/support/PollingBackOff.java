package io.dbsemaphore.engine.support;

import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/** The intervals of polling the database: short at first, since many permits are released soon, with jitter. */
public final class PollingBackOff {

    private PollingBackOff() {}

    /** Milliseconds, from 12 to 400. */
    public static BackOffExecution begin() {
        ExponentialBackOff backOff = new ExponentialBackOff(12, 1.5);
        backOff.setMaxInterval(400);
        backOff.setJitter(3);
        return backOff.start();
    }
}
