package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Monitor;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import java.time.Duration;
import java.util.HashMap;
import java.util.Map;
import java.util.function.IntPredicate;
import java.util.function.LongSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * The worker threads that run one kind of batches. While batches are short, one worker runs all of them, since several workers
 * would split what one transaction can do; when a batch takes long, or when it is worth a further transaction, another worker runs
 * the next one. They run from the start of the engine to its end.
 */
final class BatchWorkers implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(BatchWorkers.class);

    private static final long ADD_WORKER_AFTER = Duration.ofMillis(20).toNanos();

    private final DaemonThreads factory;
    private final String name;
    private final int max;
    private final LongSupplier nanosToWork;
    private final IntPredicate isWorthAnother;
    private final Runnable batch;
    private final Monitor monitor = new Monitor();
    private final Map<Thread, Long> runningSince = new HashMap<>();
    /** The number of idle workers that run the next batch if those in flight take long. */
    private int standbys;

    private volatile boolean closed;

    /**
     * Creates workers.
     *
     * @param max the maximum number of concurrent batches
     * @param nanosToWork the time until a batch can begin: 0 for now, {@link Long#MAX_VALUE} when there is nothing to do
     * @param isWorthAnother whether a further batch is to begin beside so many, however short they are
     * @param batch runs one batch
     */
    BatchWorkers(
            DaemonThreads factory,
            String name,
            int max,
            LongSupplier nanosToWork,
            IntPredicate isWorthAnother,
            Runnable batch) {
        this.factory = factory;
        this.name = name;
        this.max = max;
        this.nanosToWork = nanosToWork;
        this.isWorthAnother = isWorthAnother;
        this.batch = batch;
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

    /**
     * Signals that there is work. While batches in flight are short, a worker that waits beside them wakes by itself; once they
     * take long, as one that waits for a locked row does, it is woken at once.
     */
    void signal() {
        monitor.run(() -> {
            if (standbys == 0 || nanosToAddWorker() <= 0) {
                monitor.signal();
            }
        });
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
                    batch.run();
                }
            } catch (Throwable failure) { // the batch answers its callers; the worker must go on
                UnexpectedErrors.survive(log, name, failure);
            } finally {
                monitor.run(() -> runningSince.remove(Thread.currentThread()));
            }
        }
    }

    /** Waits until a batch can begin; false when the worker is to end. */
    private boolean awaitWork() {
        while (true) {
            long toWork = nanosToWork.getAsLong();
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

    /** The time until another worker may run a batch: none if it is worth it, else until every running one has taken so long. */
    private long nanosToAddWorker() {
        if (runningSince.isEmpty() || isWorthAnother.test(runningSince.size())) {
            return 0;
        }
        long now = System.nanoTime();
        return runningSince.values().stream()
                .mapToLong(since -> since + ADD_WORKER_AFTER - now)
                .max()
                .getAsLong();
    }
}
