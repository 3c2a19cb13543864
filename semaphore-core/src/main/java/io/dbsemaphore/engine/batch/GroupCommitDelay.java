package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.Deadline;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Delays a batch briefly so that the callers of the previous batch can join it: without this, a caller that arrives just after
 * the beginning of a batch waits until its end. Databases have such a delay, for example MySQL's {@code binlog_group_commit_sync_delay} and
 * PostgreSQL's {@code commit_delay}. Here the delay is limited to a fraction of the duration of the previous batch. It ends as soon as all
 * callers have returned; if they have not, some batches are not delayed.
 *
 * @see <a href="https://doi.org/10.1145/602259.602261">Implementation techniques for main memory database systems (group
 *     commit: DeWitt et al., 1984)</a>
 * @see <a href="https://dev.mysql.com/doc/refman/en/replication-options-binary-log.html">MySQL: binary log options</a>
 * @see <a href="https://www.postgresql.org/docs/current/runtime-config-wal.html">PostgreSQL: Write Ahead Log settings</a>
 */
final class GroupCommitDelay {

    /** A batch is delayed for at most the duration of the previous batch divided by this. */
    private static final int DIVISOR = 10;

    /** A delay had no effect if more than one in this many callers did not return. */
    private static final int MISSING_DIVISOR = 4;

    /** The number of batches that are not delayed after a delay without effect. */
    private static final int UNDELAYED_BATCHES = 8;

    private final Duration max;
    private final AtomicInteger answered = new AtomicInteger();
    private final AtomicInteger away = new AtomicInteger();
    private final AtomicInteger undelayed = new AtomicInteger();
    private volatile @Nullable Thread waiting;

    /**
     * Creates a delay.
     *
     * @param max the maximum delay of a batch
     */
    GroupCommitDelay(Duration max) {
        this.max = max;
    }

    /** Counts callers that are about to get their answers. */
    void answered(int callers) {
        answered.addAndGet(callers);
        away.addAndGet(callers);
    }

    /** Counts a caller that acquires or releases. */
    void arrived() {
        if (away.get() > 0 && away.decrementAndGet() == 0) {
            LockSupport.unpark(waiting);
        }
    }

    /** Waits until as many callers have arrived as were answered, limited by a fraction of the duration of their batch. */
    void await(Duration batch) {
        if (undelayed.getAndUpdate(batches -> Math.max(0, batches - 1)) == 0) {
            Duration fraction = batch.dividedBy(DIVISOR);
            awaitAll(Deadline.in(fraction.compareTo(max) < 0 ? fraction : max));
            undelayed.set(away.get() > answered.get() / MISSING_DIVISOR ? UNDELAYED_BATCHES : 0);
        }
        skip();
    }

    /** Begins the next batch without a delay. */
    void skip() {
        answered.set(0);
        away.set(0);
    }

    private void awaitAll(Deadline until) {
        waiting = Thread.currentThread();
        while (away.get() > 0 && !until.isPassed()) {
            LockSupport.parkNanos(this, until.remainingNanos());
        }
        waiting = null;
    }
}
