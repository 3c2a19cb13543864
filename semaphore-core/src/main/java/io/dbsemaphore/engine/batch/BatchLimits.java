package io.dbsemaphore.engine.batch;

import java.time.Duration;

/**
 * The limits of the batches.
 *
 * @param atOnce the maximum number of concurrent transactions; all but one of them, but at least one, may wait for row locks
 * @param maxBatchSize the maximum number of callers that one transaction serves
 * @param maxAttempts the maximum number of attempts of a transaction that fails with a conflict
 * @param lockWait the maximum time, across all attempts, to wait for rows that another transaction has locked
 * @param decisionTimeout how long a caller waits for a decision after its wait time has ended
 */
public record BatchLimits(int atOnce, int maxBatchSize, int maxAttempts, Duration lockWait, Duration decisionTimeout) {

    /** The maximum number of transactions that wait for row locks of other transactions. */
    int maxWaiting() {
        return Math.max(1, atOnce - 1);
    }
}
