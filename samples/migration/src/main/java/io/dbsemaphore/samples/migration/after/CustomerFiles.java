package io.dbsemaphore.samples.migration.after;

import io.dbsemaphore.annotation.WithPermits;

/** Without JdbcLockRegistry: semaphore.patterns.[customer:*].capacity=1. */
public class CustomerFiles {

    @WithPermits(names = "customer:#{#customer}", waitTime = "5s")
    public void write(String customer, Runnable work) {
        work.run();
    }
}
