package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Monitor;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The worker threads that run one kind of batches. While batches are short, one worker runs all of them, since several workers
 * would split what one transaction can do; when a batch takes long, another worker runs the next one. They run from
 * the start of the engine to its end. Work that comes after the end, such as the release of a grant that outlives a stop, is done by
 * a worker that starts for it and ends when none is left.
 */
final class BatchWorkers implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(BatchWorkers.class);

    private static final long ADD_WORKER_AFTER = Duration.ofMillis(20).toNanos();

    private final DaemonThreads factory;
    private final String name;
    private final int max;
    private final LongSupplier nanosToWork;
    private final Runnable batch;
    private final Monitor monitor = new Monitor();
    private final Map<Thread, Long> runningSince = new HashMap<>();
    /** The number of workers that have not ended. */
    private int alive;
    /** The number of idle workers that run the next batch if those in flight take long. */
    private int standbys;

    private boolean closed;

    /**
     * Creates workers.
     *
     * @param max the maximum number of concurrent batches
     * @param nanosToWork the time until a batch can begin: 0 for now, {@link Long#MAX_VALUE} when there is nothing to do
     * @param batch runs one batch
     */
    BatchWorkers(DaemonThreads factory, String name, int max, LongSupplier nanosToWork, Runnable batch) {
        this.factory = factory;
        this.name = name;
        this.max = max;
        this.nanosToWork = nanosToWork;
        this.batch = batch;
    }

    /**
     * Starts the workers, which run until {@link #close}.
     *
     * @throws OutOfMemoryError if the system has no threads for them
     */
    void start() {
        monitor.run(() -> {
            while (alive < max) {
                startOne();
            }
        });
    }

    private void startOne() {
        factory.start(name + "-" + (alive + 1), this::work);
        alive++;
    }

    /**
     * Signals that there is work. While batches in flight are short, a worker that waits beside them wakes by itself; once they
     * take long, as one that waits for a locked row does, it is woken at once.
     */
    void signal() {
        monitor.run(() -> {
            if (alive == 0 && closed) {
                startOne();
            } else if (standbys == 0 || nanosToAddWorker() <= 0) {
                monitor.signal();
            }
        });
    }

    /** Lets the workers end when there is no work left. */
    @Override
    public void close() {
        monitor.run(() -> closed = true);
        monitor.wakeAll();
    }

    private void work() {
        boolean goesOn = true;
        while (goesOn) {
            try {
                goesOn = monitor.underLock(this::awaitWork);
                if (goesOn) {
                    batch.run();
                }
            } catch (Throwable failure) { // the batch answers its callers; the worker must go on
                UnexpectedErrors.survive(log, name, failure);
            }
        }
    }

    /** Ends the worker's last batch, and waits until another one can begin; false when the worker ends. */
    private boolean awaitWork() {
        runningSince.remove(Thread.currentThread());
        while (true) {
            long toWork = nanosToWork.getAsLong();
            long toAdd = nanosToAddWorker();
            if (toWork <= 0 && toAdd <= 0) {
                runningSince.put(Thread.currentThread(), System.nanoTime());
                return true;
            }
            if (closed && toWork == Long.MAX_VALUE) {
                alive--; // under the same lock as the look for work: work added later starts another worker
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
