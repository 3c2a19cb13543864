package io.dbsemaphore.engine.batch;

import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * What one caller wants of a {@link Batcher}, through all attempts. Guarded by the lock of the batcher, except for its
 * answer.
 *
 * @param <I> what the caller wants
 * @param <O> its answer
 */
final class BatchItem<I, O> {

    private static final long FIRST_PAUSE_MILLIS = 5;
    private static final long LONGEST_PAUSE_MILLIS = 200;

    private final I wanted;
    private final CompletableFuture<O> answer = new CompletableFuture<>();
    private final long begunAt = System.nanoTime();
    private final Deadline lockDeadline;
    private int attempts;
    private boolean isolated;
    private long pauseMillis;
    private Deadline notBefore = Deadline.in(Duration.ZERO);

    /**
     * Makes an item.
     *
     * @param lockWait for how long rows are tried that another transaction has locked
     */
    BatchItem(I wanted, Duration lockWait) {
        this.wanted = wanted;
        this.lockDeadline = Deadline.in(lockWait);
    }

    I wanted() {
        return wanted;
    }

    CompletableFuture<O> answer() {
        return answer;
    }

    boolean isAnswered() {
        return answer.isDone();
    }

    /** When it was submitted, by {@link System#nanoTime}. */
    long begunAt() {
        return begunAt;
    }

    /** Counts an attempt that failed, and returns how many did. */
    int failed() {
        return ++attempts;
    }

    /** Whether it is tried without others, since a batch with it has failed. */
    boolean isIsolated() {
        return isolated;
    }

    void isolate() {
        isolated = true;
    }

    /** Whether another transaction was found to have locked a row of it. */
    boolean isBlocked() {
        return pauseMillis > 0;
    }

    /** Whether rows of it were locked for as long as is allowed. */
    boolean isBlockedForTooLong() {
        return lockDeadline.isPassed();
    }

    /** The pause before it is tried again, without waiting for the row; longer each time. */
    Duration block() {
        pauseMillis = Math.min(LONGEST_PAUSE_MILLIS, isBlocked() ? 2 * pauseMillis : FIRST_PAUSE_MILLIS);
        return Duration.ofMillis(pauseMillis);
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
