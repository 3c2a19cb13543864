package io.dbsemaphore.engine;

import org.springframework.util.backoff.BackOffExecution;
import org.springframework.util.backoff.ExponentialBackOff;

/** The pauses between two looks at the database: short at first, for what is given back soon, and spread. */
final class Pauses {

    private Pauses() {}

    /** Milliseconds, from 20 to 400. */
    static BackOffExecution begin() {
        ExponentialBackOff backOff = new ExponentialBackOff(20, 1.5);
        backOff.setMaxInterval(400);
        backOff.setJitter(15);
        return backOff.start();
    }
}
