package io.dbsemaphore.engine.batch;

import java.time.Duration;

/**
 * What batches of one kind may do.
 *
 * @param atOnce how many transactions may be under way at once; all but one may wait for a row that another transaction has
 *     locked
 * @param maxBatchSize how many callers one transaction serves at most
 * @param maxAttempts how often a transaction is tried that loses against another one
 * @param lockWait for how long, over all attempts, rows are tried that another transaction has locked
 */
public record BatchLimits(int atOnce, int maxBatchSize, int maxAttempts, Duration lockWait) {

    /** How many transactions may wait for rows that others have locked. */
    int maxWaiting() {
        return Math.max(1, atOnce - 1);
    }
}
