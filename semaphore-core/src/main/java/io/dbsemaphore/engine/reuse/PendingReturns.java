package io.dbsemaphore.engine.reuse;

import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.jspecify.annotations.Nullable;

/** The permits of one semaphore that are going back. Until that has ended, the database counts them as held. */
final class PendingReturns {

    private static final CompletableFuture<?> NONE = CompletableFuture.completedFuture(null);

    private final AtomicInteger pending = new AtomicInteger();
    private @Nullable AsyncWait asyncWait;

    /** The wait of all acquires for which no thread waits. */
    private record AsyncWait(CompletableFuture<Void> end, Deadline deadline) {}

    boolean areNone() {
        return pending.get() <= 0;
    }

    void begin(int permits) {
        pending.addAndGet(permits);
    }

    void endOne() {
        if (pending.decrementAndGet() > 0) {
            return;
        }
        AsyncWait ended = null;
        synchronized (this) {
            if (areNone()) { // otherwise another return has begun meanwhile, and its end is awaited
                notifyAll();
                ended = takeAsyncWait();
            }
        }
        end(ended);
    }

    /** Waits until no permit is going back, or the deadline has passed. */
    void await(Deadline deadline) throws InterruptedException {
        if (areNone()) {
            return;
        }
        synchronized (this) {
            while (!areNone() && !deadline.isPassed()) {
                TimeUnit.NANOSECONDS.timedWait(this, deadline.remainingNanos());
            }
        }
    }

    /**
     * As {@link #await}, without a thread that waits.
     *
     * @param max after this time {@link #endOverdueWait} ends the wait
     */
    synchronized CompletableFuture<?> whenNone(Duration max) {
        if (areNone()) {
            return NONE;
        }
        AsyncWait wait = asyncWait;
        if (wait == null) {
            wait = new AsyncWait(new CompletableFuture<>(), Deadline.in(max));
            asyncWait = wait;
        }
        return wait.end();
    }

    /** Ends the asynchronous wait if its time has passed. */
    void endOverdueWait() {
        AsyncWait ended;
        synchronized (this) {
            ended = asyncWait != null && asyncWait.deadline().isPassed() ? takeAsyncWait() : null;
        }
        end(ended);
    }

    /** Ends the asynchronous wait. */
    void endWait() {
        AsyncWait ended;
        synchronized (this) {
            ended = takeAsyncWait();
        }
        end(ended);
    }

    private @Nullable AsyncWait takeAsyncWait() {
        AsyncWait taken = asyncWait;
        asyncWait = null;
        return taken;
    }

    /** Without the lock, since what depends on it runs here. */
    private static void end(@Nullable AsyncWait ended) {
        if (ended != null) {
            ended.end().complete(null);
        }
    }
}
