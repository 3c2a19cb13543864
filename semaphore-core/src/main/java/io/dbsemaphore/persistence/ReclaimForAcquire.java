package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.HolderScans;
import io.dbsemaphore.domain.ReclaimProgress;
import io.dbsemaphore.domain.ReclaimReason;
import io.dbsemaphore.domain.ReclaimedRequest;
import io.dbsemaphore.domain.Shortfall;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import org.springframework.data.domain.Limit;

/**
 * Reclaims permits for an acquire within its transaction, which has locked the semaphores: expired requests and those of
 * dead instances. The oldest expired requests are found by an index, whatever the number of holders; usually there are
 * none. Everything else scans all holders of the semaphores.
 */
final class ReclaimForAcquire {

    /** For an IN-list of more than 200 values, MySQL uses statistics instead of index dives, and may scan the table. */
    private static final int PAGE = 200;

    private final PermitRequestTable requests;
    private final PermitTable permits;
    private final InstanceTable instances;
    private final RequestReclaim reclaim;
    private final HolderScans<Boolean> scans = new HolderScans<>();

    ReclaimForAcquire(Tables tables, RequestReclaim reclaim) {
        this.requests = tables.requests();
        this.permits = tables.permits();
        this.instances = tables.instances();
        this.reclaim = reclaim;
    }

    /** Releases the orphaned requests that hold permits of these semaphores, as many as are needed, and returns them. */
    List<ReclaimedRequest> releaseOf(Collection<Shortfall> shortfalls) {
        ReclaimProgress progress = new ReclaimProgress(shortfalls);
        boolean complete = releaseOldestExpired(progress);
        List<Shortfall> due = progress.stillShort().stream()
                .filter(shortfall -> scans.recent(shortfall).isEmpty())
                .toList();
        if (!due.isEmpty()) {
            scan(progress, due, complete);
        }
        return progress.released();
    }

    /** Returns whether all expired requests were among them. */
    private boolean releaseOldestExpired(ReclaimProgress progress) {
        List<Long> oldest = requests.rows().findOldestExpired(Limit.of(PAGE));
        if (!oldest.isEmpty()) {
            releaseSome(
                    progress,
                    permits.rows().findRequestsHolding(oldest, Shortfall.ids(progress.stillShort())),
                    new ReclaimReason.Expired());
        }
        return oldest.size() < PAGE;
    }

    private void scan(ReclaimProgress progress, List<Shortfall> due, boolean expiredAreDone) {
        List<Long> ids = Shortfall.ids(due);
        long begin = scans.begin();
        int before = progress.released().size();
        if (!expiredAreDone) {
            releaseSome(
                    progress,
                    requests.rows().findExpired(ids, 0, Limit.of(progress.limit())),
                    new ReclaimReason.Expired());
        }
        Set<Long> dead = progress.stillShort().isEmpty() ? Set.of() : instances.findDead(ids);
        if (!dead.isEmpty()) {
            releaseSome(
                    progress,
                    requests.rows().findOfInstances(ids, dead, 0, Limit.of(progress.limit())),
                    new ReclaimReason.InstanceGone());
        }
        if (progress.released().size() == before) { // there was nothing to reclaim
            scans.record(due, begin, shortfall -> true);
        }
    }

    /** Releases as many of the candidates as are needed, skipping those that another transaction has locked. */
    private void releaseSome(ReclaimProgress progress, Collection<Long> found, ReclaimReason reason) {
        List<Long> candidates =
                found.stream().filter(progress::isNew).distinct().toList();
        int from = 0;
        while (from < candidates.size() && !progress.stillShort().isEmpty()) {
            List<Long> some = candidates.subList(from, Math.min(candidates.size(), from + progress.next()));
            progress.add(some, reclaim.release(some, reason));
            from += some.size();
        }
    }
}
