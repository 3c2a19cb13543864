package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.DaemonThreads;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Enforces the deadlines of acquires for which no thread waits. One thread, which ends when idle. */
final class AcquireTimer implements AutoCloseable {

    private static final Duration IDLE = Duration.ofSeconds(2);

    private final AcquireDeadlines deadlines;
    private final ScheduledThreadPoolExecutor thread;

    AcquireTimer(AcquireDeadlines deadlines, DaemonThreads threads) {
        this.deadlines = deadlines;
        thread = threads.scheduler("semaphore-deadlines");
        thread.setKeepAliveTime(IDLE.toMillis(), TimeUnit.MILLISECONDS);
        thread.allowCoreThreadTimeOut(true);
    }

    /** Advances the acquire now, and schedules its next deadline. */
    void schedule(QueuedAcquire acquire) {
        try {
            long nanos = deadlines.advance(acquire);
            if (nanos > 0) {
                ScheduledFuture<?> next = thread.schedule(() -> schedule(acquire), nanos, TimeUnit.NANOSECONDS);
                CompletableFuture<?> unused = acquire.answer().whenComplete((answer, failure) -> next.cancel(false));
            }
        } catch (RejectedExecutionException closed) {
            deadlines.end(acquire);
        } catch (RuntimeException | Error failure) { // no caller may wait indefinitely
            deadlines.end(acquire);
            throw failure;
        }
    }

    /** Lets the thread end as soon as all scheduled acquires have their answers. */
    @Override
    public void close() {
        thread.shutdown();
    }
}
