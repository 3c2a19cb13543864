package io.dbsemaphore.persistence.instance;

import io.dbsemaphore.domain.DeadInstance;
import io.dbsemaphore.persistence.unit.LazyRepositories;
import java.time.Duration;
import java.util.Collection;
import java.util.List;
import java.util.Optional;
import java.util.Set;

/** The instances in the database, and which of them are dead. All methods but {@link #find} require an open transaction. */
public final class RegisteredInstances {

    public static final Class<?> ENTITY = SemaphoreInstance.class;

    public static final Class<?> REPOSITORY = InstanceRepository.class;

    private final InstanceRepository rows;
    private final SuspectInstances suspects;

    public RegisteredInstances(LazyRepositories repositories, Duration suspectGrace) {
        rows = repositories.get(InstanceRepository.class);
        suspects = new SuspectInstances(suspectGrace);
    }

    /** Extends the lease of the instance by the timeout; registers the instance if it is unknown. */
    public void heartbeat(long id, String owner, Duration timeout) {
        if (rows.heartbeat(id, timeout.toMillis()) == 0) {
            rows.insert(id, owner, timeout.toMillis());
        }
    }

    public void delete(long id) {
        rows.delete(id);
    }

    /** The dead instances that hold permits. */
    public Set<Long> findDead() {
        return suspects.dead(rows.findSuspectHolders());
    }

    public Set<Long> findDead(Collection<Long> semaphoreIds) {
        return suspects.dead(rows.findSuspectHolders(semaphoreIds));
    }

    /** What is known of a dead instance, without a statement. */
    public DeadInstance find(long instance) {
        return suspects.find(instance).orElseGet(() -> new DeadInstance(instance, Optional.empty(), Optional.empty()));
    }

    /** Deletes the instances that hold nothing and whose lease expired longer ago than that. Returns how many there were. */
    public int deleteExpired(Duration overdueFor) {
        List<Long> expired = rows.findLongExpired(-overdueFor.toMillis());
        return expired.isEmpty() ? 0 : rows.deleteLongExpired(expired, -overdueFor.toMillis());
    }
}
