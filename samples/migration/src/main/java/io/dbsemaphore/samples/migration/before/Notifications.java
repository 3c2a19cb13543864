package io.dbsemaphore.samples.migration.before;

import org.springframework.resilience.annotation.ConcurrencyLimit;

/** One notification after the other. */
public class Notifications {

    @ConcurrencyLimit(1)
    public void send(Runnable notification) {
        notification.run();
    }
}
