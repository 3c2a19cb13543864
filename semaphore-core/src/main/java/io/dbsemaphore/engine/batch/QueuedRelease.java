package io.dbsemaphore.engine.batch;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.engine.support.BackOff;
import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;

/**
 * One caller's release through all attempts. While it is queued, it is guarded by the lock of the {@link ReleaseQueue}; from
 * when it is taken until it is added again, only the thread of its batch uses it. Any thread may wait for its answer.
 */
final class QueuedRelease {

    private static final BackOff PAUSES = new BackOff(Duration.ofMillis(5), 2, Duration.ofMillis(200), 0);

    private final StoredGrant grant;
    private final boolean maybeLost;
    private final CompletableFuture<ReleaseOutcome> answer = new CompletableFuture<>();
    private final long startedAt = System.nanoTime();
    private final Deadline lockDeadline;
    private boolean commitSent;
    private int attempts;
    private boolean isolated;
    private int timesBlocked;
    private Deadline notBefore = Deadline.in(Duration.ZERO);

    /**
     * Creates it without an attempt.
     *
     * @param maybeLost whether another instance may have released the grant, since it has expired
     * @param lockWait the maximum time to wait for rows that another transaction has locked
     */
    QueuedRelease(StoredGrant grant, boolean maybeLost, Duration lockWait) {
        this.grant = grant;
        this.maybeLost = maybeLost;
        this.lockDeadline = Deadline.in(lockWait);
    }

    StoredGrant grant() {
        return grant;
    }

    long requestId() {
        return grant.requestId();
    }

    CompletableFuture<ReleaseOutcome> answer() {
        return answer;
    }

    boolean isAnswered() {
        return answer.isDone();
    }

    /** When the release was submitted, by {@link System#nanoTime}. */
    long startedAt() {
        return startedAt;
    }

    /** Records that an attempt has sent a commit, to which there was no answer. */
    void commitSent() {
        commitSent = true;
    }

    /**
     * What this release has done, if an attempt has found this outcome. A grant that an earlier attempt of this release has
     * released was released by this release. Where another instance may have done it, that cannot be told.
     */
    ReleaseOutcome outcome(ReleaseOutcome found) {
        return found == ReleaseOutcome.ALREADY_RELEASED && commitSent && !maybeLost ? ReleaseOutcome.RELEASED : found;
    }

    /** Counts a failed attempt, and returns the number of them. */
    int failed() {
        return ++attempts;
    }

    /** Whether the release is retried in isolation, since a batch that contained it has failed. */
    boolean isIsolated() {
        return isolated;
    }

    void isolate() {
        isolated = true;
    }

    /** Whether another transaction was found to have locked a row of the grant. */
    boolean isBlocked() {
        return timesBlocked > 0;
    }

    /** Whether rows of the grant were locked for longer than the maximum time. */
    boolean isBlockedForTooLong() {
        return lockDeadline.isPassed();
    }

    /** Marks the release as blocked. Returns the pause before the next attempt, which doubles each time. */
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
