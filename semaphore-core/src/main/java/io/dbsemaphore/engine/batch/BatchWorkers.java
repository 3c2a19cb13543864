package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.jdbc.DatabaseThreads;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A few threads that run one kind of batches. While batches are short, one thread runs them all, since two would split what
 * one transaction can do; when a batch takes long, another thread helps. The threads exist while there is work. Where no batch
 * is under way, a caller may run one itself, which saves two thread switches (the combiner of flat combining: Hendler, Incze,
 * Shavit and Tzafrir, <a href="https://doi.org/10.1145/1810479.1810540">Flat Combining and the Synchronization-Parallelism
 * Tradeoff</a>, 2010). While the system has no thread to start, callers do all the work.
 */
final class BatchWorkers implements AutoCloseable {

    /** Where the batches come from. */
    interface Source {

        /** How long until a batch can begin: 0 when at once, {@link Long#MAX_VALUE} when there is nothing to do. */
        long nanosToWork();

        /**
         * Runs one batch.
         *
         * @param mayWait whether it may wait for locks of other transactions; a caller's thread must not, since its deadline
         *     or an interrupt could not end that
         */
        void run(boolean mayWait);
    }

    private static final Logger log = LoggerFactory.getLogger(BatchWorkers.class);

    private static final long HELP_AFTER = Duration.ofMillis(20).toNanos();
    private static final long END_AFTER = Duration.ofSeconds(2).toNanos();

    /** For how long a caller does what others need, too, while there are no threads. */
    private static final long LONGEST_HELP = Duration.ofMillis(200).toNanos();

    private final DaemonThreads factory;
    private final String name;
    private final int max;
    private final DatabaseThreads databaseThreads;
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

    /**
     * Makes workers.
     *
     * @param max how many batches may be under way at once
     * @param databaseThreads tells which callers may run a batch themselves
     */
    BatchWorkers(DaemonThreads factory, String name, int max, DatabaseThreads databaseThreads, Source source) {
        this.factory = factory;
        this.name = name;
        this.max = max;
        this.databaseThreads = databaseThreads;
        this.source = source;
    }

    /** Whether one that is held up can be helped. */
    boolean areSeveral() {
        return max > 1;
    }

    /** There is work: a thread of the library does it, or this one where the system has none for the moment. */
    void signal() {
        long end = System.nanoTime() + LONGEST_HELP;
        while (!wake() && source.nanosToWork() <= 0 && System.nanoTime() < end && beginInCaller()) {
            boolean interrupted = Thread.interrupted();
            batch(false);
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
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
     * Begins a batch on the calling thread, unless one is under way or the thread must not use the database; to be ended by
     * {@link #endInCaller}.
     */
    boolean beginInCaller() {
        if (!databaseThreads.mayUseCaller()) {
            return false;
        }
        lock.lock();
        try {
            return runningSince.isEmpty() && runningSince.put(Thread.currentThread(), System.nanoTime()) == null;
        } finally {
            lock.unlock();
        }
    }

    /** Ends the batch of the calling thread. */
    void endInCaller() {
        finish();
        if (source.nanosToWork() < Long.MAX_VALUE) {
            signal();
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
            source.run(mayWait);
        } catch (Throwable failure) { // the source answers its callers; this thread must go on
            UnexpectedErrors.survive(log, "A batch of " + name, failure);
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
