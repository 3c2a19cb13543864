package io.dbsemaphore.engine.batch;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.concurrent.BackOff;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import java.util.function.BooleanSupplier;

/** One release of a grant, through all attempts. */
public final class Release {

    private static final BackOff PAUSES = new BackOff(Duration.ofMillis(5), 2, Duration.ofMillis(200), 0);

    private final StoredGrant grant;
    private final BooleanSupplier maybeLost;
    private final QueueClock clock;
    private final CompletableFuture<ReleaseOutcome> answer = new CompletableFuture<>();
    private final long startedAt;
    private boolean outcomeUnknown;
    private int attempts;
    private boolean isolated;
    private int timesBlocked;
    private Deadline notBefore;

    /**
     * Creates a release.
     *
     * @param maybeLost whether the grant has expired, so that another instance may have released it
     */
    Release(StoredGrant grant, BooleanSupplier maybeLost, QueueClock clock) {
        this.grant = grant;
        this.maybeLost = maybeLost;
        this.clock = clock;
        startedAt = clock.now();
        notBefore = clock.in(Duration.ZERO);
    }

    /** Repeats the release after a failure. */
    Release again() {
        Release again = new Release(grant, maybeLost, clock);
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
        for (Release release : releases) {
            List<Long> ids = new ArrayList<>();
            for (StoredPermit permit : release.grant().permits()) {
                ids.add(permit.id());
            }
            permitIds.put(release.requestId(), ids);
        }
        return permitIds;
    }

    /** Completed by a thread of the engine, which must not be blocked. */
    public CompletableFuture<ReleaseOutcome> answer() {
        return answer;
    }

    /**
     * Returns the outcome of this release, given what an attempt has found. A grant that is already released was released by an earlier
     * attempt of this release, unless another instance may have done it.
     */
    ReleaseOutcome outcome(ReleaseOutcome found) {
        return found == ReleaseOutcome.ALREADY_RELEASED && outcomeUnknown && !maybeLost.getAsBoolean()
                ? ReleaseOutcome.RELEASED
                : found;
    }

    /** Records that an attempt may have released the grant: its commit was not answered. */
    void setOutcomeUnknown() {
        outcomeUnknown = true;
    }

    /** Counts a failed attempt, and returns the number so far. */
    int failed() {
        return ++attempts;
    }

    /** When its first attempt could begin, by the monotonic clock of this JVM. */
    long startedAt() {
        return startedAt;
    }

    /** Whether the release is retried in isolation, because a batch that contained it has failed. */
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

    /** Records that a row is locked. Returns the pause before the next attempt, which doubles each time. */
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
