package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.HeldSum;
import io.dbsemaphore.domain.LocalQueues;
import io.dbsemaphore.domain.LockedSemaphore;
import io.dbsemaphore.domain.PolledAvailability;
import io.dbsemaphore.persistence.unit.ShortTransaction;
import java.time.LocalDateTime;
import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.Supplier;

/** Reads the availability of semaphores for waiting callers: without a lock, and for all semaphores in one statement. */
public final class AvailabilityTransactions {

    private final ShortTransaction transaction;
    private final Tables tables;
    private final SemaphoreTable semaphores;
    private final WaiterTable waiters;
    private final RequestReclaim reclaim;

    AvailabilityTransactions(ShortTransaction transaction, Tables tables, RequestReclaim reclaim) {
        this.reclaim = reclaim;
        this.transaction = transaction;
        this.tables = tables;
        this.semaphores = tables.semaphores();
        this.waiters = tables.waiters();
    }

    /**
     * Reads the availability of each semaphore, by name, and confirms to the other instances who waits here.
     *
     * @param inFlight those of them with a batch in flight
     * @param local the callers of this instance that wait
     */
    public Map<String, PolledAvailability> poll(Collection<String> names, Set<String> inFlight, LocalQueues local) {
        return transaction.execute(() -> {
            SortedMap<Long, String> byId = new TreeMap<>();
            semaphores.idsOf(names).forEach((name, id) -> byId.put(id, name));
            WaiterTable.Queues queues = waiters.queues(local);
            queues.find(byId.entrySet().stream()
                    .filter(semaphore -> local.isFair(semaphore.getValue()))
                    .map(Map.Entry::getKey)
                    .toList());
            Map<String, PolledAvailability> available = new HashMap<>();
            Set<Long> toExtend = new HashSet<>();
            List<SemaphoreTable.Availability> polled =
                    byId.isEmpty() ? List.of() : semaphores.findAvailabilities(byId.keySet());
            polled.forEach(each -> {
                LockedSemaphore semaphore = each.semaphore();
                HeldSum sum = each.sum();
                if (queues.isExtensionDue(semaphore, sum.now())) {
                    toExtend.add(semaphore.id());
                }
                available.put(
                        semaphore.name(),
                        new PolledAvailability(
                                semaphore.capacity(),
                                sum.held(),
                                sum.exclusive() > 0 ? 0 : semaphore.capacity() - sum.held(),
                                semaphore.fence(),
                                sum.now(),
                                queues.elsewhere(semaphore.id(), sum.now()),
                                queues.isRegistered(semaphore)));
            });
            if (!polled.isEmpty()) {
                queues.confirm(byId, polled.get(0).sum().now(), inFlight);
                extend(toExtend, polled.get(0).sum().now());
            }
            names.forEach(name -> available.putIfAbsent(name, PolledAvailability.DELETED));
            return available;
        });
    }

    /** Records that callers wait. A row that another transaction has locked is left out: that one records it, or the next poll. */
    private void extend(Set<Long> ids, LocalDateTime now) {
        if (!ids.isEmpty()) {
            Supplier<List<LockedSemaphore>> result = semaphores.lockSkipLocked(ids);
            tables.sql().flush();
            List<Long> locked = result.get().stream().map(LockedSemaphore::id).toList();
            if (!locked.isEmpty()) {
                waiters.extend(locked, now);
            }
        }
    }

    /** Tells the other instances that no caller of this one waits for these semaphores any more. */
    public void forget(Collection<String> names, long instance) {
        transaction.run(() -> waiters.delete(instance, idsOf(names)));
    }

    /** Tells the other instances that no caller of this one waits any more. */
    public void forgetAll(long instance) {
        transaction.run(() -> waiters.deleteAll(instance));
    }

    /** Whether permits of these semaphores may be reclaimed, because they have expired or their instance is dead. */
    public boolean isReclaimable(Collection<String> names) {
        return transaction.execute(() -> {
            Set<Long> ids = idsOf(names);
            return !ids.isEmpty()
                    && (!reclaim.find(ids, ReclaimReason.expired(), 1).isEmpty()
                            || !tables.instances().findDead(ids).isEmpty());
        });
    }

    private Set<Long> idsOf(Collection<String> names) {
        return new TreeSet<>(semaphores.idsOf(names).values());
    }
}
