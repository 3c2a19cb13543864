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

/** Releases the grants of all callers together. */
public final class ReleaseBatcher implements Batcher.Work<ReleaseBatcher.Release, ReleaseOutcome>, AutoCloseable {

    private final ReleaseTransaction releases;
    private final Batcher<Release, ReleaseOutcome> batcher;

    /** A release, through all attempts. */
    static final class Release {

        private final StoredGrant grant;
        private volatile boolean commitSent;

        private Release(StoredGrant grant) {
            this.grant = grant;
        }
    }

    /** Makes a batcher on this transaction. */
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
     * Releases it, as often as is worth trying: on the calling thread where it is the only one. An interrupt does not end
     * that.
     *
     * @throws RuntimeException when it failed
     */
    public ReleaseOutcome release(StoredGrant grant) {
        Release release = new Release(grant);
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

    /** Has it released by a thread of the library, which completes the future. */
    public CompletableFuture<ReleaseOutcome> submitAsync(StoredGrant grant) {
        return batcher.submitAsync(new Release(grant));
    }

    /**
     * Has it released by the next transaction that grants, where that {@linkplain BatchingGranter#acceptsReleases accepts
     * it}. A thread of the library completes the future.
     *
     * @param submitted runs as soon as it can be taken
     */
    public CompletableFuture<ReleaseOutcome> submitPiggyBacked(StoredGrant grant, Runnable submitted) {
        return batcher.submitPiggyBacked(new Release(grant), submitted);
    }

    /** Waits for the outcome, and throws what the release failed with as the caller's own. */
    public static ReleaseOutcome await(CompletableFuture<ReleaseOutcome> outcome) {
        return Batcher.await(outcome);
    }

    /** Whether something waits for a transaction that grants. */
    boolean hasPiggyBacked() {
        return batcher.hasPiggyBacked();
    }

    /** Takes what waits for a transaction that grants. */
    PiggyBack takePiggyBacked() {
        return new PiggyBack(batcher.takePiggyBacked());
    }

    /** What a transaction that grants releases, too. */
    final class PiggyBack {

        private final List<BatchItem<Release, ReleaseOutcome>> items;
        private final List<Release> wanted;

        private PiggyBack(List<BatchItem<Release, ReleaseOutcome>> items) {
            this.items = items;
            this.wanted = items.stream().map(BatchItem::wanted).toList();
        }

        /** The ids of the permits of each request, by its id. */
        SortedMap<Long, List<Long>> permitIds() {
            return permitIdsOf(wanted);
        }

        /** How many callers release. */
        int releases() {
            return wanted.size();
        }

        void done(Set<Long> released) {
            Map<Long, ReleaseOutcome> outcomes = new HashMap<>();
            released.forEach(id -> outcomes.put(id, ReleaseOutcome.RELEASED));
            batcher.piggyBackedDone(items, outcomesOf(wanted, outcomes));
        }

        /** Whether something is tried again. */
        boolean failed(Throwable failure) {
            markCommitSent(wanted, failure);
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
    public List<@Nullable ReleaseOutcome> run(List<Release> wanted, boolean lockedLikely) {
        try {
            return lockedLikely ? releaseUnlocked(wanted) : releaseFree(wanted);
        } catch (RuntimeException failure) {
            markCommitSent(wanted, failure);
            throw failure;
        }
    }

    private static void markCommitSent(List<Release> wanted, Throwable failure) {
        if (failure instanceof CommitOutcomeUnknownException) {
            wanted.forEach(each -> each.commitSent = true);
        }
    }

    @Override
    public String lockedFor(Release release, Duration time) {
        return ("The grant '%s' on %s was not released yet: another transaction has locked it or its permits for %s, as"
                        + " requireHeld does. It is tried on in the background")
                .formatted(release.grant.externalId(), release.grant.counts(), time);
    }

    private List<@Nullable ReleaseOutcome> releaseFree(List<Release> wanted) {
        try {
            return outcomesOf(wanted, releases.releaseFree(permitIdsOf(wanted)));
        } catch (PartialReleaseException oneIsReleasedAlready) {
            return releaseUnlocked(wanted);
        }
    }

    private List<@Nullable ReleaseOutcome> releaseUnlocked(List<Release> wanted) {
        return outcomesOf(wanted, releases.releaseUnlocked(permitIdsOf(wanted).keySet()));
    }

    /** What was released by an earlier attempt of this very release was released by it. */
    private static ReleaseOutcome outcomeOf(Release release, ReleaseOutcome outcome) {
        return outcome == ReleaseOutcome.ALREADY_RELEASED && release.commitSent ? ReleaseOutcome.RELEASED : outcome;
    }

    private static SortedMap<Long, List<Long>> permitIdsOf(List<Release> wanted) {
        SortedMap<Long, List<Long>> permitIds = new TreeMap<>();
        wanted.forEach(each -> permitIds.put(
                each.grant.requestId(),
                each.grant.permits().stream().map(StoredPermit::id).toList()));
        return permitIds;
    }

    private static List<@Nullable ReleaseOutcome> outcomesOf(List<Release> wanted, Map<Long, ReleaseOutcome> outcomes) {
        Set<Long> seen = new HashSet<>();
        List<@Nullable ReleaseOutcome> answers = new ArrayList<>();
        for (Release each : wanted) {
            ReleaseOutcome outcome = outcomes.get(each.grant.requestId());
            boolean first = seen.add(each.grant.requestId()); // the second release of the same grant comes too late
            answers.add(outcome == null ? null : first ? outcomeOf(each, outcome) : ReleaseOutcome.ALREADY_RELEASED);
        }
        return answers;
    }

    /** Lets what is under way come to its end. */
    @Override
    public void close() {
        batcher.close();
    }
}
