package io.dbsemaphore.persistence;

import io.dbsemaphore.domain.LockedSemaphore;
import io.dbsemaphore.jdbc.StatementQueue.Result;
import java.util.ArrayList;
import java.util.Collection;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;

/**
 * The rows of the semaphores that a batch is about: which are to be locked and, once that is executed, which are. Rows that
 * are waited for are locked by one statement each, in ascending order of their ids: a list of ids is locked in the order of
 * whatever index the optimizer chose, together with rows that nobody asked for.
 */
final class RowLocks {

    private final SemaphoreRepository semaphores;
    private final SortedMap<Long, String> waited;
    private final SortedMap<Long, String> all;
    private final List<Result<List<LockedSemaphore>>> results = new ArrayList<>();

    /**
     * Prepares locks.
     *
     * @param waited the names of those that are waited for, by id
     * @param free the names of those that are passed over when another transaction has locked them, by id
     */
    RowLocks(SemaphoreRepository semaphores, SortedMap<Long, String> waited, SortedMap<Long, String> free) {
        this.semaphores = semaphores;
        this.waited = waited;
        this.all = new TreeMap<>(waited);
        this.all.putAll(free);
    }

    /** Locks the rows now, by the repository's {@code @Lock(PESSIMISTIC_WRITE)} queries. */
    void lockOneByOne() {
        for (long id : waited.keySet()) {
            List<LockedSemaphore> locked =
                    semaphores.lockById(id).map(Semaphore::toLocked).stream().toList();
            results.add(() -> locked);
        }
        if (waited.size() < all.size()) {
            List<LockedSemaphore> locked = semaphores.lockFree(free()).stream()
                    .map(Semaphore::toLocked)
                    .toList();
            results.add(() -> locked);
        }
    }

    /** Queues the same locks, so that they share a round trip with what follows. */
    void queueLocks() {
        for (long id : waited.keySet()) {
            semaphores.flush(); // one wait after the other: a round trip may wait for one row, not for all
            results.add(semaphores.queueLockById(id));
        }
        if (waited.size() < all.size()) {
            results.add(semaphores.queueLockFree(free()));
        }
    }

    private Set<Long> free() {
        Set<Long> free = new HashSet<>(all.keySet());
        free.removeAll(waited.keySet());
        return free;
    }

    /** The ids of all of them. */
    Set<Long> ids() {
        return all.keySet();
    }

    String nameOf(LockedSemaphore semaphore) {
        String name = all.get(semaphore.id());
        if (name == null) {
            throw new IllegalStateException("Nobody asked for " + semaphore);
        }
        return name;
    }

    /** Those that are locked. */
    List<LockedSemaphore> locked() {
        return results.stream().map(Result::get).flatMap(Collection::stream).toList();
    }

    /** The first of those that were waited for and are not there: it was deleted. */
    Optional<Map.Entry<Long, String>> firstMissing() {
        Set<Long> there = new HashSet<>();
        locked().forEach(semaphore -> there.add(semaphore.id()));
        return waited.entrySet().stream()
                .filter(entry -> !there.contains(entry.getKey()))
                .findFirst();
    }
}
