package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.LockedSemaphore;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.NavigableMap;
import java.util.Set;
import java.util.TreeMap;
import java.util.function.Supplier;

/**
 * The row locks of a batch. Rows that are waited for are locked by one statement each, in ascending order of their ids: an
 * IN-list is locked in the order of the index that the optimizer chooses, and may lock rows that were not requested.
 */
final class RowLocks {

    private final SemaphoreRepository semaphores;
    private final NavigableMap<Long, String> waited;
    private final NavigableMap<Long, String> all;
    private final List<Supplier<List<LockedSemaphore>>> results = new ArrayList<>();

    /**
     * Prepares locks.
     *
     * @param waited the names of the semaphores whose rows are waited for, by id
     * @param skippable the names of the semaphores whose rows are skipped if another transaction has locked them, by id
     */
    RowLocks(SemaphoreRepository semaphores, NavigableMap<Long, String> waited, NavigableMap<Long, String> skippable) {
        this.semaphores = semaphores;
        this.waited = waited;
        this.all = new TreeMap<>(waited);
        this.all.putAll(skippable);
    }

    /** Locks the rows now, by the repository's {@code @Lock(PESSIMISTIC_WRITE)} queries. */
    void lockOneByOne() {
        for (long id : waited.keySet()) {
            List<LockedSemaphore> locked =
                    semaphores.lockById(id).map(Semaphore::toLocked).stream().toList();
            results.add(() -> locked);
        }
        if (waited.size() < all.size()) {
            List<LockedSemaphore> locked = semaphores.lockSkipLocked(skippable()).stream()
                    .map(Semaphore::toLocked)
                    .toList();
            results.add(() -> locked);
        }
    }

    /** Queues the same locks, so that they share a round trip with what follows. */
    void queueLocks() {
        for (long id : waited.keySet()) {
            semaphores.sendQueued(); // one wait per round trip
            results.add(semaphores.queueLockById(id));
        }
        if (waited.size() < all.size()) {
            results.add(semaphores.queueLockSkipLocked(skippable()));
        }
    }

    private Set<Long> skippable() {
        Set<Long> skippable = new HashSet<>(all.keySet());
        skippable.removeAll(waited.keySet());
        return skippable;
    }

    /** The names of all requested semaphores, by id. */
    Map<Long, String> all() {
        return all;
    }

    /** The ids of all requested semaphores. */
    Set<Long> ids() {
        return all.keySet();
    }

    String nameOf(LockedSemaphore semaphore) {
        String name = all.get(semaphore.id());
        if (name == null) {
            throw new IllegalStateException("Not requested: " + semaphore);
        }
        return name;
    }

    /** The semaphores whose rows are locked. */
    List<LockedSemaphore> locked() {
        return results.stream().map(Supplier::get).flatMap(Collection::stream).toList();
    }

    /** Whether an awaited row does not exist, because the semaphore was deleted and perhaps created again. */
    boolean isAnyMissing() {
        return notLocked().stream().anyMatch(waited::containsKey);
    }

    /** The ids of the rows that do not exist, or that were skipped. */
    Set<Long> notLocked() {
        Set<Long> notLocked = new HashSet<>(all.keySet());
        locked().forEach(semaphore -> notLocked.remove(semaphore.id()));
        return notLocked;
    }
}
