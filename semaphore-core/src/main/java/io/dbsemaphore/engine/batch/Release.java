package io.dbsemaphore.engine.batch;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.engine.support.BackOff;
import io.dbsemaphore.engine.support.Deadline;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;

/** One release of a grant, through all attempts. All but the answer is guarded by the lock of the {@link WorkQueue}. */
public final class Release {

    private static final BackOff PAUSES = new BackOff(Duration.ofMillis(5), 2, Duration.ofMillis(200), 0);

    private final StoredGrant grant;
    private final BooleanSupplier maybeLost;
    private final Duration lockWait;
    private final QueueClock clock;
    private final CompletableFuture<ReleaseOutcome> answer = new CompletableFuture<>();
    private final long startedAt;
    private final Deadline lockDeadline;
    private boolean outcomeUnknown;
    private int attempts;
    private boolean isolated;
    private int timesBlocked;
    private Deadline notBefore;
    private @Nullable Runnable decision;

    /**
     * Creates it without an attempt.
     *
     * @param maybeLost whether another instance may have released the grant by now, since it has expired
     * @param lockWait the maximum time to wait for rows that another transaction has locked
     */
    Release(StoredGrant grant, BooleanSupplier maybeLost, Duration lockWait, QueueClock clock) {
        this.grant = grant;
        this.maybeLost = maybeLost;
        this.lockWait = lockWait;
        this.clock = clock;
        startedAt = clock.now();
        lockDeadline = clock.in(lockWait);
        notBefore = clock.in(Duration.ZERO);
    }

    /** The same release once more, after a failure. */
    Release again() {
        Release again = new Release(grant, maybeLost, lockWait, clock);
        again.outcomeUnknown = outcomeUnknown;
        return again;
    }

    public StoredGrant grant() {
        return grant;
    }

    long requestId() {
        return grant.requestId();
    }

    /** The ids of the permits of these grants, by the id of their request. */
    static SortedMap<Long, List<Long>> permitIds(List<Release> releases) {
        SortedMap<Long, List<Long>> permitIds = new TreeMap<>();
        releases.forEach(each -> permitIds.put(
                each.requestId(),
                each.grant().permits().stream().map(StoredPermit::id).toList()));
        return permitIds;
    }

    /** Completed by a thread of the engine, which must not be blocked. */
    public CompletableFuture<ReleaseOutcome> answer() {
        return answer;
    }

    /**
     * Returns the outcome of this release if an attempt has found the given one. If an earlier attempt released the grant, this release
     * did; not if another instance may have done it.
     */
    ReleaseOutcome outcome(ReleaseOutcome found) {
        return found == ReleaseOutcome.ALREADY_RELEASED && outcomeUnknown && !maybeLost.getAsBoolean()
                ? ReleaseOutcome.RELEASED
                : found;
    }

    /** Sets the outcome, which {@link #complete} passes to the caller. */
    void decide(ReleaseOutcome outcome) {
        decision = () -> answer.complete(outcome);
    }

    /** Sets the failure, which {@link #complete} passes to the caller. */
    void decide(Throwable failure) {
        decision = () -> answer.completeExceptionally(failure);
    }

    boolean isDecided() {
        return decision != null;
    }

    /** Completes the answer of a decided release. Not to be called under the lock. */
    void complete() {
        Objects.requireNonNull(decision, "Not decided").run();
    }

    /** Records that an attempt may have released the grant: its commit was not answered. */
    void setOutcomeUnknown() {
        outcomeUnknown = true;
    }

    /** Counts a failed attempt, and returns the number of them. */
    int failed() {
        return ++attempts;
    }

    long elapsedNanos() {
        return clock.now() - startedAt;
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
        return clock.isPassed(lockDeadline);
    }

    /** Marks the release as blocked. Returns the pause before the next attempt, which doubles each time. */
    Duration block() {
        return PAUSES.after(++timesBlocked);
    }

    boolean isDue() {
        return clock.isPassed(notBefore);
    }

    long nanosToDue() {
        return Math.max(0, clock.remainingNanos(notBefore));
    }

    void pauseFor(Duration pause) {
        notBefore = clock.in(pause);
    }
}
