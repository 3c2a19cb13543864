package io.dbsemaphore.engine;

import io.dbsemaphore.ReleaseOutcome;
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

    GatheredReleases(ReleaseTransaction releases, int atOnce, int maxAttempts, Listeners listeners) {
        this.releases = releases;
        gathering = new Gathering<>("semaphore-releases", atOnce, maxAttempts, listeners, this);
    }

    @Override
    public ReleaseOutcome release(StoredGrant grant) {
        return gathering.submit(new Wanted(grant));
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
        ReleaseOutcome outcome = releases.release(wanted.grant.requestId());
        return outcome == ReleaseOutcome.ALREADY_RELEASED && wanted.commitSent
                ? ReleaseOutcome.RELEASED // by an earlier attempt of this very release
                : outcome;
    }

    /** Where one is not released, it is found out alone why. */
    private List<@Nullable ReleaseOutcome> releaseFree(List<Wanted> wanted) {
        SortedMap<Long, List<Long>> permitIds = new TreeMap<>();
        wanted.forEach(each -> permitIds.put(
                each.grant.requestId(),
                each.grant.permits().stream().map(StoredPermit::id).toList()));
        Set<Long> released = new HashSet<>();
        try {
            released.addAll(releases.releaseFree(permitIds));
        } catch (PartialReleaseException oneIsReleasedAlready) {
            log.debug("Each release of {} by itself", wanted.size(), oneIsReleasedAlready);
        }
        List<@Nullable ReleaseOutcome> outcomes = new ArrayList<>();
        // who wants the same a second time in one batch comes too late
        wanted.forEach(each -> outcomes.add(released.remove(each.grant.requestId()) ? ReleaseOutcome.RELEASED : null));
        return outcomes;
    }

    @Override
    public void close() {
        gathering.close();
    }
}
