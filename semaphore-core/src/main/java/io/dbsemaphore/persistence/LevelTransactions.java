package io.dbsemaphore.persistence;

import java.util.Collection;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import org.springframework.data.domain.Limit;

/** How full semaphores are, for those who wait: read without a lock, for all of them at once. */
public final class LevelTransactions {

    private final ShortTransaction transaction;
    private final SemaphoreRepository semaphores;
    private final SemaphoreDirectory directory;
    private final PermitRequestRepository requests;
    private final InstanceRepository instances;
    private final SilentInstances silentInstances;

    LevelTransactions(
            ShortTransaction transaction,
            SemaphoreRepository semaphores,
            SemaphoreDirectory directory,
            PermitRequestRepository requests,
            InstanceRepository instances,
            SilentInstances silentInstances) {
        this.transaction = transaction;
        this.semaphores = semaphores;
        this.directory = directory;
        this.requests = requests;
        this.instances = instances;
        this.silentInstances = silentInstances;
    }

    /** How many permits of each are free, by name; none and fewer where less than nothing is, or it is held exclusively. */
    public Map<String, Long> findFree(Collection<String> names) {
        return transaction.execute(() -> {
            Map<String, Long> free = new HashMap<>();
            Set<Long> ids = idsOf(names);
            List<SemaphoreRepository.Level> levels = ids.isEmpty() ? List.of() : semaphores.findLevels(ids);
            levels.forEach(
                    level -> free.put(level.name(), level.exclusive() > 0 ? 0 : level.capacity() - level.held()));
            names.forEach(name -> free.putIfAbsent(name, Long.MAX_VALUE / 2)); // deleted: that is to be told
            return free;
        });
    }

    /** Whether something of these may be taken back from somebody who is gone. */
    public boolean isSomethingOrphaned(Collection<String> names) {
        return transaction.execute(() -> {
            Set<Long> ids = idsOf(names);
            return !ids.isEmpty()
                    && (!requests.findExpired(ids, 0, Limit.of(1)).isEmpty()
                            || !silentInstances
                                    .dead(instances.findSilentHolders(ids))
                                    .isEmpty());
        });
    }

    private Set<Long> idsOf(Collection<String> names) {
        return new TreeSet<>(directory.findIds(names).values());
    }
}
