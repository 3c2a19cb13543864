package io.dbsemaphore.engine.batch;

import io.dbsemaphore.engine.support.BackOff;
import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * One caller's request to a {@link Batcher}, through all attempts. Guarded by the lock of the {@link ItemQueue}, except for
 * its answer.
 *
 * @param <I> the request
 * @param <O> its answer
 */
final class BatchItem<I, O> {

    private static final BackOff PAUSES = new BackOff(Duration.ofMillis(5), 2, Duration.ofMillis(200), 0);

    private final I request;
    private final CompletableFuture<O> answer = new CompletableFuture<>();
    private final long startedAt = System.nanoTime();
    private final Deadline lockDeadline;
    private int attempts;
    private boolean isolated;
    private int timesBlocked;
    private Deadline notBefore = Deadline.in(Duration.ZERO);

    /**
     * Makes an item.
     *
     * @param lockWait the maximum time to wait for rows that another transaction has locked
     */
    BatchItem(I request, Duration lockWait) {
        this.request = request;
        this.lockDeadline = Deadline.in(lockWait);
    }

    I request() {
        return request;
    }

    CompletableFuture<O> answer() {
        return answer;
    }

    boolean isAnswered() {
        return answer.isDone();
    }

    /** When the item was submitted, by {@link System#nanoTime}. */
    long startedAt() {
        return startedAt;
    }

    /** Counts a failed attempt, and returns the number of them. */
    int failed() {
        return ++attempts;
    }

    /** Whether the item is tried alone, since a batch that contained it has failed. */
    boolean isIsolated() {
        return isolated;
    }

    void isolate() {
        isolated = true;
    }

    /** Whether another transaction was found to have locked a row of this item. */
    boolean isBlocked() {
        return timesBlocked > 0;
    }

    /** Whether rows of this item were locked for longer than the maximum time. */
    boolean isBlockedForTooLong() {
        return lockDeadline.isPassed();
    }

    /** Marks the item as blocked. Returns the pause before the next attempt, which doubles each time. */
    Duration block() {
        return PAUSES.after(++timesBlocked);
    }

    boolean isDue() {
        return notBefore.isPassed();
    }

    long nanosToDue() {
        return Math.max(0, notBefore.remainingNanos());
    }

    void pauseFor(Duration pause) {
        notBefore = Deadline.in(pause);
    }
}
