package io.dbsemaphore.engine.batch;

import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.domain.PartialReleaseException;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.persistence.BatchTransaction;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/** Runs the transactions of releases. Stateless. */
final class ReleaseRunner {

    private final BatchTransaction transaction;

    ReleaseRunner(BatchTransaction transaction) {
        this.transaction = transaction;
    }

    /** Releases one grant by one transaction, which waits for rows that other transactions have locked. */
    ReleaseOutcome runOne(QueuedRelease release) {
        return release.outcome(transaction.release(release.grant()));
    }

    /**
     * Releases grants by one transaction, which does not wait for rows that other transactions have locked.
     *
     * @param lockedLikely whether such rows are to be expected
     * @return the answers, in the order of the releases; null where another transaction has locked a row
     */
    List<@Nullable ReleaseOutcome> run(List<QueuedRelease> releases, boolean lockedLikely) {
        if (!lockedLikely) {
            try {
                return answers(releases, transaction.releaseSkipLocked(permitIds(releases)));
            } catch (PartialReleaseException oneIsReleasedAlready) {
                // then each of them is looked at
            }
        }
        return answers(
                releases, transaction.releaseSkipLocked(permitIds(releases).keySet()));
    }

    /** The ids of the permits, by the id of their request. */
    static SortedMap<Long, List<Long>> permitIds(List<QueuedRelease> releases) {
        SortedMap<Long, List<Long>> permitIds = new TreeMap<>();
        releases.forEach(each -> permitIds.put(
                each.requestId(),
                each.grant().permits().stream().map(StoredPermit::id).toList()));
        return permitIds;
    }

    /** The answers to releases, from the outcomes by request; null where there is no outcome. */
    static List<@Nullable ReleaseOutcome> answers(List<QueuedRelease> releases, Map<Long, ReleaseOutcome> outcomes) {
        Set<Long> seen = new HashSet<>();
        List<@Nullable ReleaseOutcome> answers = new ArrayList<>();
        for (QueuedRelease each : releases) {
            ReleaseOutcome outcome = outcomes.get(each.requestId());
            boolean first = seen.add(each.requestId()); // a second release of the same grant has no effect
            answers.add(outcome == null ? null : first ? each.outcome(outcome) : ReleaseOutcome.ALREADY_RELEASED);
        }
        return answers;
    }
}
