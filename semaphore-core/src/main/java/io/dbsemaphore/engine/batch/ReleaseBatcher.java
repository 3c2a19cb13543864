package io.dbsemaphore.engine.batch;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.domain.PartialReleaseException;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.persistence.ReleaseTransaction;
import io.dbsemaphore.persistence.unit.CommitOutcomeUnknownException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.concurrent.CompletableFuture;
import org.jspecify.annotations.Nullable;

/** Releases grants in batches: one transaction releases the grants of many callers. */
public final class ReleaseBatcher implements Batcher.Work<ReleaseBatcher.Release, ReleaseOutcome>, AutoCloseable {

    private final ReleaseTransaction releases;
    private final Batcher<Release, ReleaseOutcome> batcher;

    /** A release, through all attempts. */
    static final class Release {

        private final StoredGrant grant;
        private final boolean maybeLost;
        private volatile boolean commitSent;

        private Release(StoredGrant grant, boolean maybeLost) {
            this.grant = grant;
            this.maybeLost = maybeLost;
        }
    }

    /** Makes a batcher that uses this transaction. */
    public ReleaseBatcher(
            ReleaseTransaction releases,
            DaemonThreads threads,
            DatabaseThreads databaseThreads,
            BatchLimits limits,
            ListenerNotifier listeners) {
        this.releases = releases;
        batcher = new Batcher<>(threads, databaseThreads, "semaphore-releases", limits, listeners, this);
    }

    /**
     * Releases a grant, with retries: on the calling thread if no other release is in flight. Ignores interrupts.
     *
     * @param maybeLost whether another instance may have released the grant, since it has expired
     * @throws RuntimeException when it failed
     */
    public ReleaseOutcome release(StoredGrant grant, boolean maybeLost) {
        Release release = new Release(grant, maybeLost);
        BatchItem<Release, ReleaseOutcome> item = batcher.beginInCaller(release);
        if (item == null) {
            return Batcher.await(batcher.submitAsync(release));
        }
        boolean interrupted = Thread.interrupted();
        try {
            return releases.release(grant);
        } catch (RuntimeException | Error failure) {
            release.commitSent = failure instanceof CommitOutcomeUnknownException;
            batcher.failedInCaller(item, failure);
        } finally {
            batcher.endInCaller();
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
        return Batcher.await(item.answer());
    }

    /** Submits a release. A worker thread completes the future. */
    public CompletableFuture<ReleaseOutcome> submitAsync(StoredGrant grant) {
        return batcher.submitAsync(new Release(grant, false));
    }

    /**
     * Submits a release to be piggy-backed on the next grant transaction, if that {@linkplain BatchingGranter#acceptsReleases
     * accepts it}. A worker thread completes the future.
     *
     * @param maybeLost whether another instance may have released the grant, since it has expired
     * @param submitted runs as soon as the release can be taken
     */
    public CompletableFuture<ReleaseOutcome> submitPiggyBacked(
            StoredGrant grant, boolean maybeLost, Runnable submitted) {
        return batcher.submitPiggyBacked(new Release(grant, maybeLost), submitted);
    }

    /** Waits for the outcome, and rethrows a failure as an exception of the calling thread. */
    public static ReleaseOutcome await(CompletableFuture<ReleaseOutcome> outcome) {
        return Batcher.await(outcome);
    }

    /** Whether there are releases to be piggy-backed on a grant transaction. */
    boolean hasPiggyBacked() {
        return batcher.hasPiggyBacked();
    }

    /** Takes the releases to be piggy-backed on a grant transaction. */
    PiggyBack takePiggyBacked() {
        return new PiggyBack(batcher.takePiggyBacked());
    }

    /** The releases that are piggy-backed on one grant transaction. */
    final class PiggyBack {

        private final List<BatchItem<Release, ReleaseOutcome>> items;
        private final List<Release> requests;

        private PiggyBack(List<BatchItem<Release, ReleaseOutcome>> items) {
            this.items = items;
            this.requests = items.stream().map(BatchItem::request).toList();
        }

        /** The ids of the permits, by the id of their request. */
        SortedMap<Long, List<Long>> permitIds() {
            return permitIdsOf(requests);
        }

        /** The number of releases. */
        int releases() {
            return requests.size();
        }

        void done(Set<Long> released) {
            Map<Long, ReleaseOutcome> outcomes = new HashMap<>();
            released.forEach(id -> outcomes.put(id, ReleaseOutcome.RELEASED));
            batcher.piggyBackedDone(items, outcomesOf(requests, outcomes));
        }

        /** Reports a failure. Returns whether a release is tried again. */
        boolean failed(Throwable failure) {
            markCommitSent(requests, failure);
            return batcher.piggyBackedFailed(items, failure);
        }
    }

    @Override
    public ReleaseOutcome runOne(Release release) {
        try {
            return outcomeOf(release, releases.release(release.grant));
        } catch (RuntimeException failure) {
            markCommitSent(List.of(release), failure);
            throw failure;
        }
    }

    @Override
    public List<@Nullable ReleaseOutcome> run(List<Release> requests, boolean lockedLikely) {
        try {
            return lockedLikely ? releaseUnlocked(requests) : releaseFree(requests);
        } catch (RuntimeException failure) {
            markCommitSent(requests, failure);
            throw failure;
        }
    }

    private static void markCommitSent(List<Release> requests, Throwable failure) {
        if (failure instanceof CommitOutcomeUnknownException) {
            requests.forEach(each -> each.commitSent = true);
        }
    }

    @Override
    public String lockedFor(Release release, Duration time) {
        return ("The grant '%s' on %s was not released yet: another transaction has locked it or its permits for %s, as"
                        + " requireHeld does. Its release is retried in the background")
                .formatted(release.grant.externalId(), release.grant.counts(), time);
    }

    private List<@Nullable ReleaseOutcome> releaseFree(List<Release> requests) {
        try {
            return outcomesOf(requests, releases.releaseSkipLocked(permitIdsOf(requests)));
        } catch (PartialReleaseException oneIsReleasedAlready) {
            return releaseUnlocked(requests);
        }
    }

    private List<@Nullable ReleaseOutcome> releaseUnlocked(List<Release> requests) {
        return outcomesOf(
                requests, releases.releaseUnlocked(permitIdsOf(requests).keySet()));
    }

    /**
     * A grant that an earlier attempt of this release has released was released by this release. Where another instance may have
     * done it, that cannot be told.
     */
    private static ReleaseOutcome outcomeOf(Release release, ReleaseOutcome outcome) {
        return outcome == ReleaseOutcome.ALREADY_RELEASED && release.commitSent && !release.maybeLost
                ? ReleaseOutcome.RELEASED
                : outcome;
    }

    private static SortedMap<Long, List<Long>> permitIdsOf(List<Release> requests) {
        SortedMap<Long, List<Long>> permitIds = new TreeMap<>();
        requests.forEach(each -> permitIds.put(
                each.grant.requestId(),
                each.grant.permits().stream().map(StoredPermit::id).toList()));
        return permitIds;
    }

    private static List<@Nullable ReleaseOutcome> outcomesOf(
            List<Release> requests, Map<Long, ReleaseOutcome> outcomes) {
        Set<Long> seen = new HashSet<>();
        List<@Nullable ReleaseOutcome> answers = new ArrayList<>();
        for (Release each : requests) {
            ReleaseOutcome outcome = outcomes.get(each.grant.requestId());
            boolean first = seen.add(each.grant.requestId()); // a second release of the same grant has no effect
            answers.add(outcome == null ? null : first ? outcomeOf(each, outcome) : ReleaseOutcome.ALREADY_RELEASED);
        }
        return answers;
    }

    /** Lets the releases in progress complete. */
    @Override
    public void close() {
        batcher.close();
    }
}
