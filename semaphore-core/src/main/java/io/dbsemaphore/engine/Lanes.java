package io.dbsemaphore.engine;

import io.dbsemaphore.concurrent.DaemonThreads;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A few threads that do one kind of work in rounds. As long as rounds are short, one thread does them all, since two would
 * split what one does together; when it is held up, another helps. The threads exist while there is work.
 */
final class Lanes implements AutoCloseable {

    /** What is to be done. */
    interface Desk {

        /** How long until a round can begin: 0 when at once, {@link Long#MAX_VALUE} when there is nothing to do. */
        long nanosToWork();

        /**
         * Does one round.
         *
         * @param mayWait whether for somebody else's locks; a caller who does it himself can be interrupted only if not
         */
        void work(boolean mayWait);
    }

    private static final Logger log = LoggerFactory.getLogger(Lanes.class);

    private static final String VIRTUAL_THREAD = "java.lang.VirtualThread"; // has no other name before Java 21

    private static final long HELP_AFTER = Duration.ofMillis(20).toNanos();
    private static final long END_AFTER = Duration.ofSeconds(2).toNanos();

    private final DaemonThreads factory;
    private final String name;
    private final int max;
    private final Desk desk;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition news = lock.newCondition();
    private final Map<Thread, Long> busySince = new HashMap<>();
    private int threads;
    private int idle;
    private int watching;
    private boolean closed;

    Lanes(DaemonThreads factory, String name, int max, Desk desk) {
        this.factory = factory;
        this.name = name;
        this.max = max;
        this.desk = desk;
    }

    /** Whether one that is held up can be helped. */
    boolean areSeveral() {
        return max > 1;
    }

    /** There is work. */
    void signal() {
        lock.lock();
        try {
            if (!busySince.isEmpty() && watching > 0) {
                return; // who watches will help in time
            }
            if (idle > 0) {
                news.signal();
            } else if (threads < max) {
                threads++;
                Thread thread = factory.create(name + "-" + threads, this::run);
                thread.start();
            }
        } finally {
            lock.unlock();
        }
    }

    /**
     * Lets the calling thread do a round where nobody is at one: a lone caller need not wake another thread and be woken by
     * it. Not a virtual thread, whose socket an interrupt would close.
     *
     * @return whether it did one, with what it has just put on the desk
     */
    boolean help() {
        if (Thread.currentThread().getClass().getName().equals(VIRTUAL_THREAD) || !begin()) {
            return false;
        }
        Uninterrupted.call(() -> {
            round(false);
            return Boolean.TRUE;
        });
        if (desk.nanosToWork() < Long.MAX_VALUE) {
            signal();
        }
        return true;
    }

    private boolean begin() {
        lock.lock();
        try {
            return busySince.isEmpty() && busySince.put(Thread.currentThread(), System.nanoTime()) == null;
        } finally {
            lock.unlock();
        }
    }

    /** Lets the threads end when there is no work left. */
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
        while (awaitTurn()) {
            round(true);
        }
    }

    private void round(boolean mayWait) {
        try {
            desk.work(mayWait);
        } catch (RuntimeException | Error failure) { // the desk tells its callers; this thread must go on
            log.error("A round of {} failed in a way that is not foreseen", name, failure);
        } finally {
            finish();
        }
    }

    private boolean awaitTurn() {
        lock.lock();
        idle++;
        try {
            long endAt = System.nanoTime() + END_AFTER;
            while (true) {
                long toWork = desk.nanosToWork();
                long toHelp = nanosToHelp();
                if (toWork <= 0 && toHelp <= 0) {
                    busySince.put(Thread.currentThread(), System.nanoTime());
                    return true;
                }
                long toEnd = endAt - System.nanoTime();
                if (toWork == Long.MAX_VALUE && (closed || toEnd <= 0)) {
                    threads--;
                    return false;
                }
                await(Math.min(Math.max(toWork, toHelp), Math.max(toEnd, HELP_AFTER)));
            }
        } finally {
            idle--;
            lock.unlock();
        }
    }

    /** Waking early does no harm: the caller looks again whether it is its turn. */
    @SuppressWarnings("WaitNotInLoop")
    private void await(long nanos) {
        boolean watch = !busySince.isEmpty();
        watching += watch ? 1 : 0;
        try {
            long unused = news.awaitNanos(watch ? Math.min(nanos, HELP_AFTER) : nanos);
        } catch (InterruptedException nobodyMayEndThisThread) {
            log.debug("The thread goes on although it was interrupted", nobodyMayEndThisThread);
        } finally {
            watching -= watch ? 1 : 0;
        }
    }

    /** Until all who work have been at it for long. */
    private long nanosToHelp() {
        long now = System.nanoTime();
        return busySince.values().stream()
                .mapToLong(since -> since + HELP_AFTER - now)
                .max()
                .orElse(0);
    }

    private void finish() {
        lock.lock();
        try {
            busySince.remove(Thread.currentThread());
        } finally {
            lock.unlock();
        }
    }
}
