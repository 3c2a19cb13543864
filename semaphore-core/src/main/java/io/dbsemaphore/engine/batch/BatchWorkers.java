package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Monitor;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.concurrent.Uninterruptibles;
import io.dbsemaphore.jdbc.DatabaseThreads;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The worker threads that run one kind of batches. While batches are short, one worker runs all of them, since several workers
 * would split what one transaction can do; when a batch takes long, another worker runs the next one. Workers end when idle. If
 * no batch is in flight, a caller may run one in its own thread, which saves two thread switches (as the combiner of flat
 * combining: Hendler, Incze, Shavit and Tzafrir, <a href="https://doi.org/10.1145/1810479.1810540">Flat Combining and the
 * Synchronization-Parallelism Tradeoff</a>, 2010). While no thread can be started, callers run all batches.
 */
final class BatchWorkers implements AutoCloseable {

    interface Source {

        /** The time until a batch can begin: 0 for now, {@link Long#MAX_VALUE} when there is nothing to do. */
        long nanosToWork();

        /**
         * Runs one batch.
         *
         * @param mayWait whether the batch may wait for locks of other transactions; not in a caller's thread, since neither
         *     its deadline nor an interrupt could end that wait
         */
        void run(boolean mayWait);
    }

    private static final Logger log = LoggerFactory.getLogger(BatchWorkers.class);

    private static final long ADD_WORKER_AFTER = Duration.ofMillis(20).toNanos();
    private static final long IDLE_TIMEOUT = Duration.ofSeconds(2).toNanos();

    /** How long a caller runs batches for other callers while no thread can be started. */
    private static final long MAX_TIME_IN_CALLER = Duration.ofMillis(200).toNanos();

    private final DaemonThreads factory;
    private final String name;
    private final int max;
    private final DatabaseThreads databaseThreads;
    private final Source source;
    private final Monitor monitor = new Monitor();
    private final Map<Thread, Long> runningSince = new HashMap<>();
    private int threads;
    /** The number of threads whose start was deferred until the system can start one. */
    private int deferred;

    private int idle;
    /** The number of idle workers that run the next batch if those in flight take long. */
    private int standbys;

    private volatile boolean closed;

    /**
     * Creates workers.
     *
     * @param max the maximum number of concurrent batches
     * @param databaseThreads decides which callers may run a batch in their own thread
     */
    BatchWorkers(DaemonThreads factory, String name, int max, DatabaseThreads databaseThreads, Source source) {
        this.factory = factory;
        this.name = name;
        this.max = max;
        this.databaseThreads = databaseThreads;
        this.source = source;
    }

    /** Whether another worker can run a batch while one is blocked. */
    boolean areSeveral() {
        return max > 1;
    }

    /** Signals that there is work: a worker runs it, or the calling thread if no thread can be started. */
    void signal() {
        long end = System.nanoTime() + MAX_TIME_IN_CALLER;
        while (!monitor.is(this::wake) && source.nanosToWork() <= 0 && System.nanoTime() < end && beginInCaller()) {
            Uninterruptibles.run(() -> runBatch(false));
        }
    }

    /** Returns whether a worker runs. */
    private boolean wake() {
        if (!runningSince.isEmpty() && standbys > 0) {
            return true; // that worker runs the next batch when it is due
        }
        if (idle > 0) {
            monitor.signal();
        } else if (threads < max) {
            start(new Worker());
        }
        return threads > deferred;
    }

    private void start(Worker worker) {
        threads++;
        try {
            if (!factory.start(name + "-" + threads, worker)) {
                worker.deferred = true;
                deferred++;
            }
        } catch (Throwable noThread) { // the next one tries again
            threads--;
            UnexpectedErrors.log(log, "The start of a thread of " + name, noThread);
        }
    }

    /**
     * Begins a batch on the calling thread, unless one is in flight or the thread must not use the database. To be ended by
     * {@link #endInCaller}.
     */
    boolean beginInCaller() {
        return monitor.is(runningSince::isEmpty)
                && databaseThreads.mayUseCaller()
                && monitor.is(() ->
                        runningSince.isEmpty() && runningSince.put(Thread.currentThread(), System.nanoTime()) == null);
    }

    /** Ends the batch of the calling thread, and runs what has been queued meanwhile. */
    void endInCaller() {
        finish();
        if (source.nanosToWork() < Long.MAX_VALUE) {
            signal();
        }
    }

    /** Lets the workers end when there is no work left. */
    @Override
    public void close() {
        closed = true;
        monitor.wakeAll();
    }

    private final class Worker implements Runnable {

        private boolean deferred;

        @Override
        public void run() {
            started(this);
            boolean goesOn = true;
            while (goesOn) {
                try {
                    goesOn = monitor.is(BatchWorkers.this::awaitWork);
                    if (goesOn) {
                        runBatch(true);
                    }
                } catch (Throwable failure) { // the worker must go on
                    UnexpectedErrors.survive(log, name, failure);
                }
            }
        }
    }

    private void started(Worker worker) {
        monitor.lock();
        try {
            deferred -= worker.deferred ? 1 : 0;
        } finally {
            monitor.unlock();
        }
    }

    private void runBatch(boolean mayWait) {
        try {
            source.run(mayWait);
        } catch (Throwable failure) { // the source answers its callers; the worker must go on
            UnexpectedErrors.survive(log, "A batch of " + name, failure);
        } finally {
            finish();
        }
    }

    /** Ends the batch of the calling thread. Allocates nothing: short of memory, too, a batch must not seem to run indefinitely. */
    void finish() {
        monitor.lock();
        try {
            runningSince.remove(Thread.currentThread());
        } finally {
            monitor.unlock();
        }
    }

    private boolean awaitWork() {
        idle++;
        try {
            long endAt = System.nanoTime() + IDLE_TIMEOUT;
            while (true) {
                long toWork = source.nanosToWork();
                long toAdd = nanosToAddWorker();
                if (toWork <= 0 && toAdd <= 0) {
                    runningSince.put(Thread.currentThread(), System.nanoTime());
                    return true;
                }
                long toEnd = endAt - System.nanoTime();
                if (toWork == Long.MAX_VALUE && (closed || toEnd <= 0)) {
                    threads--;
                    return false;
                }
                await(Math.min(Math.max(toWork, toAdd), Math.max(toEnd, ADD_WORKER_AFTER)));
            }
        } finally {
            idle--;
        }
    }

    /** May return early: the caller checks its condition again. */
    private void await(long nanos) {
        boolean standby = !runningSince.isEmpty();
        standbys += standby ? 1 : 0;
        try {
            monitor.await(standby ? Math.min(nanos, ADD_WORKER_AFTER) : nanos);
        } finally {
            standbys -= standby ? 1 : 0;
        }
    }

    /** The time until every running batch has taken so long that another worker may run one. */
    private long nanosToAddWorker() {
        long now = System.nanoTime();
        return runningSince.values().stream()
                .mapToLong(since -> since + ADD_WORKER_AFTER - now)
                .max()
                .orElse(0);
    }
}
