package io.dbsemaphore.engine.batch;

import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * Delays a batch briefly so that the callers of the previous one can join it: a caller that comes just after a batch has
 * begun waits for the whole of it. This is the group-commit delay of databases, as MySQL's {@code
 * binlog_group_commit_sync_delay} and PostgreSQL's {@code commit_delay}, but bounded by a part of what a batch takes, over as
 * soon as all callers are back, and left out for a while where they do not come back so soon.
 *
 * @see <a href="https://dev.mysql.com/doc/refman/en/replication-options-binary-log.html">MySQL: binary log options</a>
 */
final class GroupCommitDelay {

    /** A batch is delayed for at most such a part of what the previous one took. */
    private static final int PART = 10;

    /** A delay was in vain when more than such a part of the callers has not come back. */
    private static final int LATE_PART = 4;

    /** So many batches are not delayed after a delay that was in vain. */
    private static final int BATCHES_WITHOUT = 8;

    private final Duration max;
    private final AtomicInteger answered = new AtomicInteger();
    private final AtomicInteger away = new AtomicInteger();
    private final AtomicInteger without = new AtomicInteger();
    private volatile @Nullable Thread waiting;

    /**
     * Begins without callers.
     *
     * @param max how long a batch is delayed, whatever the previous one took
     */
    GroupCommitDelay(Duration max) {
        this.max = max;
    }

    /** So many callers are about to get their answers. */
    void answered(int callers) {
        answered.addAndGet(callers);
        away.addAndGet(callers);
    }

    /** A caller acquires or releases. */
    void arrived() {
        if (away.get() > 0 && away.decrementAndGet() == 0) {
            LockSupport.unpark(waiting);
        }
    }

    /** Waits until as many callers have arrived as were answered, at most for a part of what their batch took. */
    void await(Duration batch) {
        if (without.getAndUpdate(batches -> Math.max(0, batches - 1)) == 0) {
            Duration part = batch.dividedBy(PART);
            awaitAll(Deadline.in(part.compareTo(max) < 0 ? part : max));
            without.set(away.get() > answered.get() / LATE_PART ? BATCHES_WITHOUT : 0);
        }
        skip();
    }

    /** Does not wait for the callers of the previous batch. */
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
