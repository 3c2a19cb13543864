package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.PolledAvailability;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.springframework.data.domain.Limit;

/** How full semaphores are, for those who wait: read without a lock, for all of them at once. */
public final class AvailabilityTransactions {

    private final ShortTransaction transaction;
    private final SemaphoreRepository semaphores;
    private final SemaphoreDirectory directory;
    private final PermitRequestRepository requests;
    private final InstanceRepository instances;
    private final SuspectInstances suspectInstances;

    AvailabilityTransactions(
            ShortTransaction transaction,
            SemaphoreRepository semaphores,
            SemaphoreDirectory directory,
            PermitRequestRepository requests,
            InstanceRepository instances,
            SuspectInstances suspectInstances) {
        this.transaction = transaction;
        this.semaphores = semaphores;
        this.directory = directory;
        this.requests = requests;
        this.instances = instances;
        this.suspectInstances = suspectInstances;
    }

    /** What is free of each, by name. */
    public Map<String, PolledAvailability> findFree(Collection<String> names) {
        return transaction.execute(() -> {
            Map<String, PolledAvailability> free = new HashMap<>();
            Set<Long> ids = idsOf(names);
            List<SemaphoreRepository.Level> availabilityTransactions =
                    ids.isEmpty() ? List.of() : semaphores.findLevels(ids);
            availabilityTransactions.forEach(level -> free.put(
                    level.name(),
                    new PolledAvailability(
                            level.capacity(),
                            level.held(),
                            level.exclusive() > 0 ? 0 : level.capacity() - level.held(),
                            level.fence())));
            names.forEach(name -> free.putIfAbsent(name, PolledAvailability.DELETED));
            return free;
        });
    }

    /**
     * Raises the fences of those of these semaphores whose rows nobody else has locked, so that other JVMs see that
     * something has happened.
     *
     * @return the fences by name
     */
    public Map<String, Long> raiseFences(Collection<String> names, long by) {
        return transaction.execute(() -> {
            Map<String, Long> fences = new HashMap<>();
            Set<Long> ids = idsOf(names);
            if (!ids.isEmpty()) {
                semaphores.lockFree(ids).stream()
                        .map(Semaphore::toLocked)
                        .forEach(semaphore -> fences.put(semaphore.name(), semaphore.fence() + by));
                if (!fences.isEmpty()) {
                    semaphores.raiseFences(idsOf(fences.keySet()), by);
                }
            }
            return fences;
        });
    }

    /** Whether something of these may be taken back from somebody who is gone. */
    public boolean isSomethingOrphaned(Collection<String> names) {
        return transaction.execute(() -> {
            Set<Long> ids = idsOf(names);
            return !ids.isEmpty()
                    && (!requests.findExpired(ids, 0, Limit.of(1)).isEmpty()
                            || !suspectInstances
                                    .dead(instances.findSuspectHolders(ids))
                                    .isEmpty());
        });
    }

    private Set<Long> idsOf(Collection<String> names) {
        return new TreeSet<>(directory.findIds(names).values());
    }
}
