package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.engine.support.Uninterruptibles;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A few threads that do one kind of work in rounds. As long as rounds are short, one thread does them all, since two would
 * split what one does together; when it is held up, another helps. The threads exist while there is work. While the system
 * has no thread for them, callers do the work.
 */
final class BatchWorkers implements AutoCloseable {

    /** What is to be done. */
    interface Source {

        /** How long until a round can begin: 0 when at once, {@link Long#MAX_VALUE} when there is nothing to do. */
        long nanosToWork();

        /**
         * Does one round.
         *
         * @param mayWait whether for somebody else's locks; a caller who does it himself can be interrupted only if not
         */
        void work(boolean mayWait);
    }

    private static final Logger log = LoggerFactory.getLogger(BatchWorkers.class);

    private static final String VIRTUAL_THREAD = "java.lang.VirtualThread"; // has no other name before Java 21

    private static final long HELP_AFTER = Duration.ofMillis(20).toNanos();
    private static final long END_AFTER = Duration.ofSeconds(2).toNanos();

    /** For how long a caller does what others need, too, while there are no threads. */
    private static final long LONGEST_HELP = Duration.ofMillis(200).toNanos();

    private final DaemonThreads factory;
    private final String name;
    private final int max;
    private final Source source;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition news = lock.newCondition();
    private final Map<Thread, Long> runningSince = new HashMap<>();
    private int threads;
    /** How many of the threads are to be started as soon as the system has one. */
    private int late;

    private int idle;
    private int watching;
    private boolean closed;

    BatchWorkers(DaemonThreads factory, String name, int max, Source source) {
        this.factory = factory;
        this.name = name;
        this.max = max;
        this.source = source;
    }

    /** Whether one that is held up can be helped. */
    boolean areSeveral() {
        return max > 1;
    }

    /** There is work, which is done by a thread of the library; by this one where the system has none for the moment. */
    void signal() {
        if (!wake()) {
            boolean unused = help();
        }
    }

    /** Returns whether a thread of the library is there for the work. */
    private boolean wake() {
        lock.lock();
        try {
            if (!runningSince.isEmpty() && watching > 0) {
                return true; // who watches will help in time
            }
            if (idle > 0) {
                news.signal();
            } else if (threads < max) {
                start(new Worker());
            }
            return threads > late;
        } finally {
            lock.unlock();
        }
    }

    private void start(Worker worker) {
        threads++;
        try {
            if (!factory.start(name + "-" + threads, worker)) {
                worker.late = true;
                late++;
            }
        } catch (Throwable noThread) { // the next one tries again
            threads--;
            UnexpectedErrors.log(log, "The start of a thread of " + name, noThread);
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
        long end = System.nanoTime() + LONGEST_HELP;
        boolean goesOn = true;
        while (goesOn) {
            Uninterruptibles.call(() -> {
                batch(false);
                return Boolean.TRUE;
            });
            goesOn = source.nanosToWork() < Long.MAX_VALUE
                    && !wake()
                    && source.nanosToWork() <= 0
                    && System.nanoTime() < end
                    && begin();
        }
        return true;
    }

    private boolean begin() {
        lock.lock();
        try {
            return runningSince.isEmpty() && runningSince.put(Thread.currentThread(), System.nanoTime()) == null;
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

    private final class Worker implements Runnable {

        private boolean late;

        @Override
        public void run() {
            begun(this);
            boolean goesOn = true;
            while (goesOn) {
                try {
                    goesOn = awaitTurn();
                    if (goesOn) {
                        batch(true);
                    }
                } catch (Throwable failure) { // this thread must go on
                    UnexpectedErrors.survive(log, name, failure);
                }
            }
        }
    }

    private void begun(Worker worker) {
        lock.lock();
        try {
            late -= worker.late ? 1 : 0;
        } finally {
            lock.unlock();
        }
    }

    private void batch(boolean mayWait) {
        try {
            source.work(mayWait);
        } catch (Throwable failure) { // the desk tells its callers; this thread must go on
            UnexpectedErrors.survive(log, "A round of " + name, failure);
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
                long toWork = source.nanosToWork();
                long toHelp = nanosToHelp();
                if (toWork <= 0 && toHelp <= 0) {
                    runningSince.put(Thread.currentThread(), System.nanoTime());
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
        boolean watch = !runningSince.isEmpty();
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
        return runningSince.values().stream()
                .mapToLong(since -> since + HELP_AFTER - now)
                .max()
                .orElse(0);
    }

    private void finish() {
        lock.lock();
        try {
            runningSince.remove(Thread.currentThread());
        } finally {
            lock.unlock();
        }
    }
}
