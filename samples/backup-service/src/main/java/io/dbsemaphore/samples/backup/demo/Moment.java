package io.dbsemaphore.samples.backup.demo;

import io.dbsemaphore.samples.backup.Job;
import java.time.LocalDateTime;

/**
 * A moment at which something changed, and what ran from then on.
 *
 * @param at when, by the database's clock
 * @param job whose job it was
 * @param change what happened to it
 * @param backups how many backups ran, on all instances
 * @param transfers how many jobs of all kinds ran, on all instances: each uses the network
 * @param sameInstance how many jobs ran on the instance of this job
 */
record Moment(LocalDateTime at, Job job, Change change, int backups, int transfers, int sameInstance) {

    /**
     * What happened to a job. In this order, when it was at the same time: a permit is free for the next job as soon as
     * the last one has ended, but a job is lost no sooner than it has started.
     */
    enum Change {
        DONE,
        FAILED,
        REFUSED,
        STARTED,
        LOST
    }
}
