package io.dbsemaphore.engine;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.persistence.CommitOutcomeUnknownException;
import io.dbsemaphore.persistence.PartialReleaseException;
import io.dbsemaphore.persistence.ReleaseTransaction;
import io.dbsemaphore.persistence.StoredGrant;
import io.dbsemaphore.persistence.StoredGrant.StoredPermit;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Releases the grants of all callers together. */
final class GatheredReleases implements Releases, Gathering.Work<GatheredReleases.Wanted, ReleaseOutcome> {

    private static final Logger log = LoggerFactory.getLogger(GatheredReleases.class);

    private final ReleaseTransaction releases;
    private final Gathering<Wanted, ReleaseOutcome> gathering;

    /** A release that is wanted, through all attempts. */
    static final class Wanted {

        private final StoredGrant grant;
        private boolean commitSent;

        private Wanted(StoredGrant grant) {
            this.grant = grant;
        }
    }

    GatheredReleases(
            ReleaseTransaction releases,
            DaemonThreads threads,
            int atOnce,
            int maxBatchSize,
            int maxAttempts,
            Listeners listeners) {
        this.releases = releases;
        gathering = new Gathering<>(threads, "semaphore-releases", atOnce, maxBatchSize, maxAttempts, listeners, this);
    }

    @Override
    public ReleaseOutcome release(StoredGrant grant) {
        return gathering.submit(new Wanted(grant));
    }

    @Override
    public ReleaseOutcome releaseAlong(StoredGrant grant, Runnable handedIn) {
        return gathering.submitToRide(new Wanted(grant), handedIn);
    }

    /** Whether a transaction that grants can take some along. */
    boolean hasRiders() {
        return gathering.hasRiders();
    }

    /** Takes them along. */
    Ride takeRiders() {
        return new Ride(gathering.takeRiders());
    }

    /** What a transaction that grants releases, too. */
    static final class Ride {

        private final Gathering<Wanted, ReleaseOutcome>.Ride ride;
        private final List<Wanted> wanted;

        private Ride(Gathering<Wanted, ReleaseOutcome>.Ride ride) {
            this.ride = ride;
            this.wanted = ride.wanted();
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
            ride.done(outcomes(wanted, released));
        }

        void failed(Throwable failure) {
            if (failure instanceof CommitOutcomeUnknownException) {
                wanted.forEach(each -> each.commitSent = true);
            }
            ride.failed(failure);
        }
    }

    @Override
    public List<@Nullable ReleaseOutcome> run(List<Wanted> wanted, boolean mayWait) {
        try {
            return mayWait ? List.of(releaseOne(wanted.get(0))) : releaseFree(wanted);
        } catch (CommitOutcomeUnknownException unknown) {
            wanted.forEach(each -> each.commitSent = true);
            throw unknown;
        }
    }

    private ReleaseOutcome releaseOne(Wanted wanted) {
        ReleaseOutcome outcome = releases.release(wanted.grant);
        return outcome == ReleaseOutcome.ALREADY_RELEASED && wanted.commitSent
                ? ReleaseOutcome.RELEASED // by an earlier attempt of this very release
                : outcome;
    }

    /** Where one is not released, it is found out alone why. */
    private List<@Nullable ReleaseOutcome> releaseFree(List<Wanted> wanted) {
        try {
            return outcomes(wanted, releases.releaseFree(permitIdsOf(wanted)));
        } catch (PartialReleaseException oneIsReleasedAlready) {
            log.debug("Each release of {} by itself", wanted.size(), oneIsReleasedAlready);
            return outcomes(wanted, Set.of());
        }
    }

    private static SortedMap<Long, List<Long>> permitIdsOf(List<Wanted> wanted) {
        SortedMap<Long, List<Long>> permitIds = new TreeMap<>();
        wanted.forEach(each -> permitIds.put(
                each.grant.requestId(),
                each.grant.permits().stream().map(StoredPermit::id).toList()));
        return permitIds;
    }

    private static List<@Nullable ReleaseOutcome> outcomes(List<Wanted> wanted, Set<Long> released) {
        Set<Long> told = new HashSet<>();
        List<@Nullable ReleaseOutcome> outcomes = new ArrayList<>();
        for (Wanted each : wanted) {
            long id = each.grant.requestId();
            boolean first = released.contains(id) && told.add(id); // who wants the same a second time comes too late
            outcomes.add(first ? ReleaseOutcome.RELEASED : null);
        }
        return outcomes;
    }

    @Override
    public void close() {
        gathering.close();
    }
}
