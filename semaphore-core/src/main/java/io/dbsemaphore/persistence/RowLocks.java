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

/** The rows of the semaphores that a batch is about: which are to be locked and, once that is executed, which are. */
final class RowLocks {

    private final SortedMap<Long, String> waited;
    private final SortedMap<Long, String> all;
    private final List<Result<List<LockedSemaphore>>> results = new ArrayList<>();

    private RowLocks(SortedMap<Long, String> waited, SortedMap<Long, String> free) {
        this.waited = waited;
        this.all = new TreeMap<>(waited);
        this.all.putAll(free);
    }

    /**
     * Has rows locked by the next round trip of the transaction.
     *
     * @param waited the names of those that are waited for, by id
     * @param free the names of those that are passed over when somebody else has locked them, by id
     */
    static RowLocks lock(GrantStatements statements, SortedMap<Long, String> waited, SortedMap<Long, String> free) {
        RowLocks locks = new RowLocks(waited, free);
        waited.keySet().forEach(id -> {
            statements.flush(); // one wait after the other: a round trip may wait for one row, not for all
            locks.results.add(statements.lock(id));
        });
        if (!free.isEmpty()) {
            locks.results.add(statements.lockFree(free.keySet()));
        }
        return locks;
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

    /** The first of those that were waited for and are not there: somebody has deleted it. */
    Optional<Map.Entry<Long, String>> firstMissing() {
        Set<Long> there = new HashSet<>();
        locked().forEach(semaphore -> there.add(semaphore.id()));
        return waited.entrySet().stream()
                .filter(entry -> !there.contains(entry.getKey()))
                .findFirst();
    }
}
