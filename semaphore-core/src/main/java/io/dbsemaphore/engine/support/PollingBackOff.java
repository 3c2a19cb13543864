package io.dbsemaphore.engine.support;

import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/** The pauses between two looks at the database: short at first, for what is given back soon, and spread. */
public final class PollingBackOff {

    private PollingBackOff() {}

    /** Milliseconds, from 20 to 400. */
    public static BackOffExecution begin() {
        ExponentialBackOff backOff = new ExponentialBackOff(20, 1.5);
        backOff.setMaxInterval(400);
        backOff.setJitter(15);
        return backOff.start();
    }
}
