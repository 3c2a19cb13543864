package io.dbsemaphore.engine.batch;

import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.jspecify.annotations.Nullable;

/**
 * The callers whom the last round served. Many of them soon want something again, and what comes just after a round has
 * begun waits for the whole of it; so the next one is held back for a moment while they come. That is the delay of a group
 * commit, as MySQL's {@code binlog_group_commit_sync_delay}, but bounded by a share of what a round takes, over as soon as
 * all are back, and left out for a while where they do not come back so soon.
 */
final class GroupCommitDelay {

    /** A round is held back for at most such a part of what the last one took. */
    private static final int SHARE = 10;

    /** Held back in vain, when more than such a part has not come. */
    private static final int LATE = 4;

    /** So many rounds are not held back after one that was in vain. */
    private static final int REST = 8;

    private final Duration max;
    private final AtomicInteger served = new AtomicInteger();
    private final AtomicInteger away = new AtomicInteger();
    private final AtomicInteger rest = new AtomicInteger();
    private volatile @Nullable Thread waiting;

    /**
     * Knows nobody yet.
     *
     * @param max how long a round is held back, whatever the last one took
     */
    GroupCommitDelay(Duration max) {
        this.max = max;
    }

    /** So many callers are about to get their answer. */
    void leave(int callers) {
        served.addAndGet(callers);
        away.addAndGet(callers);
    }

    /** A caller wants something. */
    void come() {
        if (away.get() > 0 && away.decrementAndGet() == 0) {
            LockSupport.unpark(waiting);
        }
    }

    /** Waits until as many have come as left, at most for a share of what their round took. */
    void await(Duration batch) {
        if (rest.getAndUpdate(batches -> Math.max(0, batches - 1)) == 0) {
            Duration share = batch.dividedBy(SHARE);
            awaitAll(Deadline.in(share.compareTo(max) < 0 ? share : max));
            rest.set(away.get() > served.get() / LATE ? REST : 0);
        }
        forget();
    }

    /** Does not wait for them. */
    void forget() {
        served.set(0);
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
