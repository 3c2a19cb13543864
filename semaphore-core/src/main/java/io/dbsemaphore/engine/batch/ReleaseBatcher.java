package io.dbsemaphore.engine.batch;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.domain.PartialReleaseException;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.engine.support.ListenerNotifier;
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
public final class ReleaseBatcher implements Releases, Batcher.Work<ReleaseBatcher.Wanted, ReleaseOutcome> {

    private final ReleaseTransaction releases;
    private final Batcher<Wanted, ReleaseOutcome> batcher;

    /** A release that is wanted, through all attempts. */
    static final class Wanted {

        private final StoredGrant grant;
        private boolean commitSent;

        private Wanted(StoredGrant grant) {
            this.grant = grant;
        }
    }

    public ReleaseBatcher(
            ReleaseTransaction releases,
            DaemonThreads threads,
            int atOnce,
            int maxBatchSize,
            int maxAttempts,
            Duration lockWait,
            ListenerNotifier listeners) {
        this.releases = releases;
        batcher = new Batcher<>(
                threads, "semaphore-releases", atOnce, maxBatchSize, maxAttempts, lockWait, listeners, this);
    }

    @Override
    public ReleaseOutcome release(StoredGrant grant) {
        return batcher.submit(new Wanted(grant));
    }

    @Override
    public CompletableFuture<ReleaseOutcome> submitAsync(StoredGrant grant) {
        return batcher.submitAsync(new Wanted(grant));
    }

    @Override
    public CompletableFuture<ReleaseOutcome> submitPiggyBacked(StoredGrant grant, Runnable submitted) {
        return batcher.submitPiggyBacked(new Wanted(grant), submitted);
    }

    /** Whether a transaction that grants can take some along. */
    boolean hasPiggyBacked() {
        return batcher.hasPiggyBacked();
    }

    /** Takes them along. */
    PiggyBack takePiggyBacked() {
        return new PiggyBack(batcher.takePiggyBacked());
    }

    /** What a transaction that grants releases, too. */
    static final class PiggyBack {

        private final Batcher<Wanted, ReleaseOutcome>.PiggyBack piggyBack;
        private final List<Wanted> wanted;

        private PiggyBack(Batcher<Wanted, ReleaseOutcome>.PiggyBack piggyBack) {
            this.piggyBack = piggyBack;
            this.wanted = piggyBack.wanted();
        }

        /** The keys of the permits of each request, by its key. */
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
            piggyBack.done(outcomesOf(wanted, outcomes));
        }

        /** Whether something is tried again. */
        boolean failed(Throwable failure) {
            if (failure instanceof CommitOutcomeUnknownException) {
                wanted.forEach(each -> each.commitSent = true);
            }
            return piggyBack.failed(failure);
        }
    }

    @Override
    public List<@Nullable ReleaseOutcome> run(List<Wanted> wanted, Batcher.Locks locks) {
        try {
            return switch (locks) {
                case WAIT -> List.of(releaseOne(wanted.get(0)));
                case UNLIKELY -> releaseFree(wanted);
                case LIKELY -> releaseUnlocked(wanted);
            };
        } catch (CommitOutcomeUnknownException unknown) {
            wanted.forEach(each -> each.commitSent = true);
            throw unknown;
        }
    }

    @Override
    public String lockedFor(Wanted wanted, Duration time) {
        return ("The grant '%s' on %s was not released yet: another transaction has locked it or its permits for %s, as"
                        + " requireHeld does. It is tried on in the background")
                .formatted(wanted.grant.externalId(), wanted.grant.counts(), time);
    }

    private ReleaseOutcome releaseOne(Wanted wanted) {
        return told(wanted, releases.release(wanted.grant));
    }

    private List<@Nullable ReleaseOutcome> releaseFree(List<Wanted> wanted) {
        try {
            return outcomesOf(wanted, releases.releaseFree(permitIdsOf(wanted)));
        } catch (PartialReleaseException oneIsReleasedAlready) {
            return releaseUnlocked(wanted);
        }
    }

    private List<@Nullable ReleaseOutcome> releaseUnlocked(List<Wanted> wanted) {
        return outcomesOf(wanted, releases.releaseUnlocked(permitIdsOf(wanted).keySet()));
    }

    /** What was released by an earlier attempt of this very release was released by it. */
    private static ReleaseOutcome told(Wanted wanted, ReleaseOutcome outcome) {
        return outcome == ReleaseOutcome.ALREADY_RELEASED && wanted.commitSent ? ReleaseOutcome.RELEASED : outcome;
    }

    private static SortedMap<Long, List<Long>> permitIdsOf(List<Wanted> wanted) {
        SortedMap<Long, List<Long>> permitIds = new TreeMap<>();
        wanted.forEach(each -> permitIds.put(
                each.grant.requestId(),
                each.grant.permits().stream().map(StoredPermit::id).toList()));
        return permitIds;
    }

    private static List<@Nullable ReleaseOutcome> outcomesOf(List<Wanted> wanted, Map<Long, ReleaseOutcome> outcomes) {
        Set<Long> told = new HashSet<>();
        List<@Nullable ReleaseOutcome> answers = new ArrayList<>();
        for (Wanted each : wanted) {
            ReleaseOutcome outcome = outcomes.get(each.grant.requestId());
            boolean first = told.add(each.grant.requestId()); // who wants the same a second time comes too late
            answers.add(outcome == null ? null : first ? told(each, outcome) : ReleaseOutcome.ALREADY_RELEASED);
        }
        return answers;
    }

    @Override
    public void close() {
        batcher.close();
    }
}
