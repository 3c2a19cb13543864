package io.dbsemaphore.engine;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.persistence.LevelTransactions;
import java.time.Duration;
import java.util.Set;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.util.backoff.BackOffExecution;

/**
 * Looks now and then, for everybody who waits in this JVM at once, whether other JVMs have made room. No lock of a row is
 * taken for that, only by whoever is called then. One thread, which exists while somebody waits.
 */
final class LineWatch implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(LineWatch.class);

    private static final Duration ORPHANS_EVERY = Duration.ofMillis(250);

    private final GrantBoard board;
    private final LevelTransactions levels;
    private final DaemonThreads threads;
    private final Runnable called;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition news = lock.newCondition();
    private @Nullable Thread thread;
    private BackOffExecution pauses = Pauses.begin();
    private Deadline nextForOrphans = Deadline.in(ORPHANS_EVERY);
    private boolean lookNow;
    private boolean closed;

    /**
     * Makes a watch.
     *
     * @param called runs when somebody has been called from a line
     */
    LineWatch(GrantBoard board, LevelTransactions levels, DaemonThreads threads, Runnable called) {
        this.board = board;
        this.levels = levels;
        this.threads = threads;
        this.called = called;
    }

    /** Somebody has begun to wait. */
    void begin() {
        lock.lock();
        try {
            if (thread == null && !closed) {
                pauses = Pauses.begin();
                thread = threads.create("semaphore-watch", this::run);
                thread.start();
            }
        } finally {
            lock.unlock();
        }
    }

    /** There may be room. */
    void lookNow() {
        lock.lock();
        try {
            lookNow = true;
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        lock.lock();
        try {
            closed = true;
            news.signalAll();
        } finally {
            lock.unlock();
        }
    }

    private void run() {
        while (pause()) {
            try {
                look();
            } catch (RuntimeException | Error failure) { // those who wait have deadlines of their own
                log.debug("It could not be seen whether there is room for those who wait; tried again", failure);
            }
        }
    }

    private void look() {
        Set<String> names = board.awaited();
        if (names.isEmpty()) {
            return;
        }
        long asOf = System.nanoTime();
        boolean somebody = board.free(levels.findFree(names), asOf);
        if (nextForOrphans.isPassed()) {
            nextForOrphans = Deadline.in(ORPHANS_EVERY);
            somebody |= levels.isSomethingOrphaned(names) && board.callFirst(names);
        }
        if (somebody) {
            called.run();
            restart();
        }
    }

    private void restart() {
        lock.lock();
        try {
            pauses = Pauses.begin();
        } finally {
            lock.unlock();
        }
    }

    /** Waits until the next look; false when nobody waits any more. */
    private boolean pause() {
        lock.lock();
        try {
            long nanos = TimeUnit.MILLISECONDS.toNanos(pauses.nextBackOff());
            while (!closed && !lookNow && nanos > 0) {
                nanos = await(nanos);
            }
            lookNow = false;
            if (closed || board.awaited().isEmpty()) {
                thread = null;
                return false;
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    /** The caller looks again. */
    @SuppressWarnings("WaitNotInLoop")
    private long await(long nanos) {
        try {
            return news.awaitNanos(nanos);
        } catch (InterruptedException nobodyMayEndThisThread) {
            return nanos;
        }
    }
}
