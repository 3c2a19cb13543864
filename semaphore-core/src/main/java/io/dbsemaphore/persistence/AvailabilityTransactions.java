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

/** Reads the availability of semaphores for waiting callers: without a lock, and for all semaphores in one statement. */
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

    /** The availability of each semaphore, by name. */
    public Map<String, PolledAvailability> findAvailable(Collection<String> names) {
        return transaction.execute(() -> {
            Map<String, PolledAvailability> available = new HashMap<>();
            Set<Long> ids = idsOf(names);
            List<SemaphoreRepository.Availability> polled =
                    ids.isEmpty() ? List.of() : semaphores.findAvailabilities(ids);
            polled.forEach(each -> available.put(
                    each.name(),
                    new PolledAvailability(
                            each.capacity(),
                            each.held(),
                            each.exclusive() > 0 ? 0 : each.capacity() - each.held(),
                            each.fence())));
            names.forEach(name -> available.putIfAbsent(name, PolledAvailability.DELETED));
            return available;
        });
    }

    /**
     * Raises the fences of the semaphores whose rows are not locked by another transaction, so that other JVMs notice a
     * change.
     *
     * @return the fences by name
     */
    public Map<String, Long> raiseFences(Collection<String> names, long by) {
        return transaction.execute(() -> {
            Map<String, Long> fences = new HashMap<>();
            Set<Long> ids = idsOf(names);
            if (!ids.isEmpty()) {
                semaphores.lockSkipLocked(ids).stream()
                        .map(Semaphore::toLocked)
                        .forEach(semaphore -> fences.put(semaphore.name(), semaphore.fence() + by));
                if (!fences.isEmpty()) {
                    semaphores.raiseFences(idsOf(fences.keySet()), by);
                }
            }
            return fences;
        });
    }

    /** Whether permits of these semaphores may be reclaimed, because they have expired or their instance is dead. */
    public boolean isReclaimable(Collection<String> names) {
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
