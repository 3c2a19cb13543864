package io.dbsemaphore.engine.batch;

import io.dbsemaphore.jdbc.DatabaseThreads;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs one kind of batches on the threads of the database, as long as there is work for them. Short batches run one after the other,
 * because one transaction can do the work of several. When a batch takes long, another one begins beside it.
 */
final class BatchLoop {

    private static final long BEGIN_ANOTHER_AFTER = Duration.ofMillis(20).toNanos();

    private final DatabaseThreads threads;
    private final int max;
    private final LongSupplier nanosToWork;
    private final Runnable batch;

    /** The batches that run, or wait for a thread. */
    private final List<Running> running = new ArrayList<>();

    private @Nullable ScheduledFuture<?> nextLook;

    /**
     * Creates a loop.
     *
     * @param max the maximum number of concurrent batches
     * @param nanosToWork the time until a batch can begin: 0 for now, {@link Long#MAX_VALUE} if there is nothing to do
     * @param batch runs one batch
     */
    BatchLoop(DatabaseThreads threads, int max, LongSupplier nanosToWork, Runnable batch) {
        this.threads = threads;
        this.max = max;
        this.nanosToWork = nanosToWork;
        this.batch = batch;
    }

    /** Starts a batch as soon as one can begin. To be called when there is work. */
    synchronized void signal() {
        long nanos = nanosToNext();
        if (nanos <= 0) {
            Running next = new Running();
            running.add(next);
            threads.execute(next);
        } else if (nanos < Long.MAX_VALUE && (nextLook == null || nextLook.getDelay(TimeUnit.NANOSECONDS) > nanos)) {
            if (nextLook != null) {
                nextLook.cancel(false);
            }
            nextLook = threads.schedule(this::look, nanos);
        }
    }

    private synchronized void look() {
        nextLook = null;
        signal();
    }

    private long nanosToNext() {
        long nanos = nanosToBeginAnother();
        return nanos > 0 ? nanos : nanosToWork.getAsLong();
    }

    /** The time until every running batch has taken so long that another one may run. */
    private long nanosToBeginAnother() {
        if (running.size() >= max) {
            return Long.MAX_VALUE;
        }
        long now = System.nanoTime();
        long last = 0;
        for (Running each : running) {
            last = Math.max(last, each.since + BEGIN_ANOTHER_AFTER - now);
        }
        return last;
    }

    /** Whether the thread of a batch that has ended goes on with the next one, instead of queueing it. */
    private synchronized boolean goesOn(Running ended, boolean succeeded) {
        running.remove(ended);
        boolean goesOn = succeeded && nanosToNext() <= 0 && !threads.areBusy();
        if (goesOn) {
            ended.since = System.nanoTime();
            running.add(ended);
        } else {
            signal();
        }
        return goesOn;
    }

    /** Runs a batch, or waits for a thread. */
    private final class Running implements Runnable {

        private long since = System.nanoTime();

        @Override
        public void run() {
            boolean goesOn = true;
            while (goesOn) {
                boolean succeeded = false;
                try {
                    batch.run();
                    succeeded = true;
                } finally {
                    goesOn = goesOn(this, succeeded);
                }
            }
        }
    }
}
