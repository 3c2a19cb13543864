package io.dbsemaphore.engine.reuse;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.function.Predicate;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Takes out permits that have been idle for long: on the scheduler, while there are reusable permits. An acquire that would
 * not wait for permits waits for those that are going back: it would be refused, although they were released before it came.
 */
public final class IdlePermitReturns implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(IdlePermitReturns.class);

    /** How long such an acquire waits. */
    private static final Duration MAX_WAIT = Duration.ofSeconds(5);

    private static final Duration CHECK_FOR_STALE = Duration.ofSeconds(5);

    private final ReusablePermits permits;
    private final Predicate<String> awaited;
    private final Consumer<List<ReusablePermit>> due;
    private final ScheduledExecutorService scheduler;
    private @Nullable ScheduledFuture<?> nextCheck;
    private boolean closed;
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
            ScheduledExecutorService scheduler) {
        this.permits = permits;
        this.awaited = awaited;
        this.due = due;
        this.scheduler = scheduler;
    }

    /** Checks in time, since a permit was granted. */
    public synchronized void granted() {
        long now = System.nanoTime();
        Optional<Duration> pause = permits.untilCheck(now);
        if (closed || pause.isEmpty()) {
            return;
        }
        long nanos = pause.get().toNanos() - (now - checkedAt);
        if (nextCheck == null || nextCheck.getDelay(TimeUnit.NANOSECONDS) > nanos) {
            if (nextCheck != null) {
                nextCheck.cancel(false);
            }
            nextCheck = scheduler.schedule(this::checkAndPlan, nanos, TimeUnit.NANOSECONDS);
        }
    }

    /** Waits for permits that are going back, if the request has no wait time. */
    public void await(AcquireRequest request) {
        if (request.waitTime().orElse(Duration.ZERO).isZero()) {
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
        return request.waitTime().orElse(Duration.ZERO).isZero()
                ? CompletableFuture.allOf(request.permits().keySet().stream()
                        .map(name -> permits.whenReturned(name, MAX_WAIT))
                        .toArray(CompletableFuture<?>[]::new))
                : CompletableFuture.completedFuture(null);
    }

    @Override
    public synchronized void close() {
        closed = true;
        if (nextCheck != null) {
            nextCheck.cancel(false);
        }
    }

    private void checkAndPlan() {
        try {
            check();
        } catch (Throwable failure) {
            UnexpectedErrors.survive(log, "The return of idle permits", failure);
        }
        synchronized (this) {
            nextCheck = null;
        }
        granted();
    }

    private void check() {
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
