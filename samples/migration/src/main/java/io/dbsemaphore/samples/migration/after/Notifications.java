package io.dbsemaphore.samples.migration.after;

import io.dbsemaphore.annotation.WithPermits;

/** One notification after the other. */
public class Notifications {

    @WithPermits(names = "Notifications.send", waitTime = "365d")
    public void send(Runnable notification) {
        notification.run();
    }
}
