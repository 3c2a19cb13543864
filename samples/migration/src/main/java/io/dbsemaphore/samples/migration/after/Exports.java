package io.dbsemaphore.samples.migration.after;

import io.dbsemaphore.annotation.WithPermits;

/** Without Curator: semaphore.semaphores.export.capacity=3. */
public class Exports {

    @WithPermits(names = "export", waitTime = "10s")
    public void export(Runnable work) {
        work.run();
    }
}
