package io.dbsemaphore.engine.batch;

import io.dbsemaphore.concurrent.DaemonThreads;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** Watches the deadlines of acquires for which no thread waits: one thread, which exists while there are any. */
final class AcquireTimer implements AutoCloseable {

    private static final Duration IDLE = Duration.ofSeconds(2);

    private final AcquireDeadlines deadlines;
    private final ScheduledThreadPoolExecutor thread;

    AcquireTimer(AcquireDeadlines deadlines, DaemonThreads threads) {
        this.deadlines = deadlines;
        thread = new ScheduledThreadPoolExecutor(1, threads.named("semaphore-deadlines"));
        thread.setRemoveOnCancelPolicy(true);
        thread.setKeepAliveTime(IDLE.toMillis(), TimeUnit.MILLISECONDS);
        thread.allowCoreThreadTimeOut(true);
    }

    /** Does what is due, and sees to it that the rest is done in time. */
    void watch(QueuedAcquire pending) {
        try {
            long nanos = deadlines.advance(pending);
            if (nanos > 0) {
                ScheduledFuture<?> next = thread.schedule(() -> watch(pending), nanos, TimeUnit.NANOSECONDS);
                CompletableFuture<?> unused = pending.answer().whenComplete((answer, failure) -> next.cancel(false));
            }
        } catch (RejectedExecutionException closed) {
            deadlines.end(pending);
        } catch (RuntimeException | Error failure) { // a caller may not wait for ever
            deadlines.end(pending);
            throw failure;
        }
    }

    /** Ends once all that it watches have their answers. */
    @Override
    public void close() {
        thread.shutdown();
    }
}
