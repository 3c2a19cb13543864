package io.dbsemaphore.engine.reuse;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.RecurringTask;
import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.function.Consumer;
import java.util.function.Predicate;

/**
 * Takes out permits that have been idle for long: one thread, which runs while there are reusable permits. An acquire that would
 * not wait for permits waits for those that are going back: it would be refused, although they were released before it came.
 */
public final class IdlePermitReturns implements AutoCloseable {

    /** How long such an acquire waits. */
    private static final Duration MAX_WAIT = Duration.ofSeconds(5);

    private static final Duration CHECK_FOR_STALE = Duration.ofSeconds(5);

    private final ReusablePermits permits;
    private final Predicate<String> awaited;
    private final Consumer<List<ReusablePermit>> due;
    private final RecurringTask task;
    private volatile long checkedAt = System.nanoTime();
    private volatile Deadline nextForStale = Deadline.in(CHECK_FOR_STALE);

    /**
     * Creates it with no idle permits.
     *
     * @param awaited whether callers of this JVM wait for a semaphore
     * @param due receives what has been idle for long, or what callers wait for; must not block
     */
    public IdlePermitReturns(
            ReusablePermits permits,
            Predicate<String> awaited,
            Consumer<List<ReusablePermit>> due,
            DaemonThreads threads) {
        this.permits = permits;
        this.awaited = awaited;
        this.due = due;
        this.task = new RecurringTask(threads, "semaphore-reuse", Runnable::run, new Check());
    }

    /** Ensures that the thread runs, since a permit was granted. */
    public void granted() {
        task.ensureRunning();
        task.wake();
    }

    /** Waits for permits that are going back, if the request has no wait time. */
    public void await(AcquireRequest request) {
        if (request.waitTime().isZero()) {
            Deadline deadline = Deadline.in(MAX_WAIT);
            try {
                for (String name : request.permits().keySet()) {
                    permits.awaitReturns(name, deadline);
                }
            } catch (InterruptedException interrupt) {
                Thread.currentThread().interrupt(); // the acquire ends with that
            }
        }
    }

    /** As {@link #await}, without a thread that waits. The future is completed by a thread that must not be blocked. */
    public CompletableFuture<?> awaitAsync(AcquireRequest request) {
        return request.waitTime().isZero()
                ? CompletableFuture.allOf(request.permits().keySet().stream()
                        .map(name -> permits.whenReturned(name, MAX_WAIT))
                        .toArray(CompletableFuture<?>[]::new))
                : CompletableFuture.completedFuture(null);
    }

    @Override
    public void close() {
        task.close();
    }

    private final class Check implements RecurringTask.Task {

        @Override
        public long nanosToNext() {
            long now = System.nanoTime();
            return permits.untilCheck(now)
                    .map(pause -> pause.toNanos() - (now - checkedAt))
                    .orElse(RecurringTask.NOT_NEEDED);
        }

        @Override
        public void run() {
            checkedAt = System.nanoTime();
            List<ReusablePermit> idle = permits.pollDue(awaited);
            if (!idle.isEmpty()) {
                due.accept(idle);
            }
            permits.endOverdueWaits();
            if (nextForStale.isPassed()) {
                nextForStale = Deadline.in(CHECK_FOR_STALE);
                permits.removeStale();
            }
        }
    }
}
