package io.dbsemaphore.persistence;

import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Set;
import java.util.function.LongFunction;
import org.springframework.data.domain.Limit;

/** Makes room for an acquire, under the locks that it holds: takes back what has expired and what dead JVMs held. */
final class OrphanedRequests {

    private static final int BATCH = 500;

    private final PermitRequestRepository requests;
    private final InstanceRepository instances;
    private final SilentInstances silentInstances;
    private final OrphanRelease release;

    OrphanedRequests(
            PermitRequestRepository requests,
            InstanceRepository instances,
            SilentInstances silentInstances,
            OrphanRelease release) {
        this.requests = requests;
        this.instances = instances;
        this.silentInstances = silentInstances;
        this.release = release;
    }

    /** Releases the orphaned requests that hold permits of these semaphores, and returns them. */
    List<TakenBack> releaseOf(Collection<Long> semaphoreIds) {
        List<TakenBack> released = new ArrayList<>(releaseAll(
                after -> requests.findExpired(semaphoreIds, after, Limit.of(BATCH)), new OrphanReason.Expired()));
        Set<Long> dead = silentInstances.dead(instances.findSilentHolders(semaphoreIds));
        if (!dead.isEmpty()) {
            released.addAll(releaseAll(
                    after -> requests.findOfInstances(semaphoreIds, dead, after, Limit.of(BATCH)),
                    new OrphanReason.InstanceGone()));
        }
        return released;
    }

    /** Batch after batch, in the order of keys: what is locked by others is passed over. */
    private List<TakenBack> releaseAll(LongFunction<List<Long>> candidatesAfter, OrphanReason reason) {
        List<TakenBack> released = new ArrayList<>();
        List<Long> candidates = candidatesAfter.apply(0);
        while (!candidates.isEmpty()) {
            released.addAll(release.release(candidates, reason));
            candidates = candidates.size() < BATCH
                    ? List.of()
                    : candidatesAfter.apply(candidates.get(candidates.size() - 1));
        }
        return released;
    }
}
