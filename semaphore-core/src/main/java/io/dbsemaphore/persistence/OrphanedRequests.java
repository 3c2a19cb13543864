package io.dbsemaphore.persistence;

import java.util.Collection;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Set;
import org.springframework.data.domain.Limit;

/**
 * Makes room for an acquire, under the locks that it holds: takes back what has expired and what dead JVMs held. The
 * oldest expired requests are found by their index, whatever the number of holders; usually there are none. All else
 * reads each holder of the semaphores.
 */
final class OrphanedRequests {

    /** MySQL estimates more than 200 of an IN-list by statistics instead of the index, and then scans the table. */
    private static final int PAGE = 200;

    private final PermitRequestRepository requests;
    private final PermitRepository permits;
    private final InstanceRepository instances;
    private final SilentInstances silentInstances;
    private final OrphanRelease release;
    private final HolderScans<Boolean> scans = new HolderScans<>();

    OrphanedRequests(
            PermitRequestRepository requests,
            PermitRepository permits,
            InstanceRepository instances,
            SilentInstances silentInstances,
            OrphanRelease release) {
        this.requests = requests;
        this.permits = permits;
        this.instances = instances;
        this.silentInstances = silentInstances;
        this.release = release;
    }

    /** Releases orphaned requests that hold permits of these semaphores, and returns them. */
    List<TakenBack> releaseOf(Collection<Lack> lacks) {
        Reclaim reclaim = new Reclaim(lacks);
        boolean complete = releaseOldestExpired(reclaim);
        List<Lack> due = reclaim.lacking().stream()
                .filter(lack -> scans.recent(lack).isEmpty())
                .toList();
        if (!due.isEmpty()) {
            scan(reclaim, due, complete);
        }
        return reclaim.released();
    }

    /** Returns whether these were all that have expired. */
    private boolean releaseOldestExpired(Reclaim reclaim) {
        List<Long> oldest = requests.findOldestExpired(Limit.of(PAGE));
        if (!oldest.isEmpty()) {
            releaseSome(
                    reclaim, permits.findRequestsHolding(oldest, ids(reclaim.lacking())), new OrphanReason.Expired());
        }
        return oldest.size() < PAGE;
    }

    private void scan(Reclaim reclaim, List<Lack> due, boolean expiredAreDone) {
        long begin = scans.begin();
        int before = reclaim.released().size();
        if (!expiredAreDone) {
            releaseSome(
                    reclaim, requests.findExpired(ids(due), 0, Limit.of(reclaim.limit())), new OrphanReason.Expired());
        }
        Set<Long> dead =
                reclaim.lacking().isEmpty() ? Set.of() : silentInstances.dead(instances.findSilentHolders(ids(due)));
        if (!dead.isEmpty()) {
            releaseSome(
                    reclaim,
                    requests.findOfInstances(ids(due), dead, 0, Limit.of(reclaim.limit())),
                    new OrphanReason.InstanceGone());
        }
        if (reclaim.released().size() == before) { // nothing to come back for
            scans.remember(due, begin, lack -> true);
        }
    }

    /** Releases as many of the candidates as are needed: what is locked by others is passed over. */
    private void releaseSome(Reclaim reclaim, Collection<Long> found, OrphanReason reason) {
        List<Long> candidates = found.stream().filter(reclaim::isNew).distinct().toList();
        int from = 0;
        while (from < candidates.size() && !reclaim.lacking().isEmpty()) {
            List<Long> some = candidates.subList(from, Math.min(candidates.size(), from + reclaim.next()));
            reclaim.add(some, release.release(some, reason));
            from += some.size();
        }
    }

    private static Set<Long> ids(Collection<Lack> lacks) {
        Set<Long> ids = new LinkedHashSet<>();
        lacks.forEach(lack -> ids.add(lack.semaphoreId()));
        return ids;
    }
}
