package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Monitor;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.jdbc.DatabaseThreads;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The worker threads that run one kind of batches. While batches are short, one worker runs all of them, since several workers
 * would split what one transaction can do; when a batch takes long, another worker runs the next one. They run from
 * the start of the engine to its end. If no batch is in flight, a caller may run one in its own thread, which saves two thread
 * switches (as the combiner of flat combining: Hendler, Incze, Shavit and Tzafrir, <a
 * href="https://doi.org/10.1145/1810479.1810540">Flat Combining and the Synchronization-Parallelism Tradeoff</a>, 2010).
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

    private final DaemonThreads factory;
    private final String name;
    private final int max;
    private final DatabaseThreads databaseThreads;
    private final Source source;
    private final Monitor monitor = new Monitor();
    private final Map<Thread, Long> runningSince = new HashMap<>();
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

    /**
     * Starts the workers, which run until {@link #close}.
     *
     * @throws OutOfMemoryError if the system has no threads for them
     */
    void start() {
        for (int i = 1; i <= max; i++) {
            factory.start(name + "-" + i, this::work);
        }
    }

    /** Signals that there is work. A worker that waits while a batch is in flight runs the next one when it is due. */
    void signal() {
        monitor.run(() -> {
            if (runningSince.isEmpty() || standbys == 0) {
                monitor.signal();
            }
        });
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

    private void work() {
        boolean goesOn = true;
        while (goesOn) {
            try {
                goesOn = monitor.is(this::awaitWork);
                if (goesOn) {
                    runBatch();
                }
            } catch (Throwable failure) { // the source answers its callers; the worker must go on
                UnexpectedErrors.survive(log, name, failure);
            }
        }
    }

    private void runBatch() {
        try {
            source.run(true);
        } finally {
            finish();
        }
    }

    /** Ends the batch of the calling thread. */
    void finish() {
        monitor.run(() -> runningSince.remove(Thread.currentThread()));
    }

    /** Waits until a batch can begin; false when the worker is to end. */
    private boolean awaitWork() {
        while (true) {
            long toWork = source.nanosToWork();
            long toAdd = nanosToAddWorker();
            if (toWork <= 0 && toAdd <= 0) {
                runningSince.put(Thread.currentThread(), System.nanoTime());
                return true;
            }
            if (closed && toWork == Long.MAX_VALUE) {
                return false;
            }
            await(Math.max(toWork, toAdd));
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
