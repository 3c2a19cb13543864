package io.dbsemaphore.persistence;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Caches the ids of semaphores by name. An id is never reused; a deleted semaphore is detected when its row cannot be
 * locked.
 */
final class SemaphoreDirectory {

    private static final int MAX_CACHED = 10_000;

    private final SemaphoreRepository semaphores;
    private final Map<String, Long> cached = new ConcurrentHashMap<>();

    SemaphoreDirectory(SemaphoreRepository semaphores) {
        this.semaphores = semaphores;
    }

    /** The ids of the existing semaphores among these. Requires an open transaction. */
    Map<String, Long> findIds(Collection<String> names) {
        Map<String, Long> ids = new HashMap<>();
        Set<String> unknown = new HashSet<>();
        for (String name : names) {
            Long id = cached.get(name);
            if (id == null) {
                unknown.add(name);
            } else {
                ids.put(name, id);
            }
        }
        if (!unknown.isEmpty()) {
            semaphores.sendQueued(); // a piggy-backed release whose lock is refused is repeated in this transaction
            semaphores.findIds(unknown).forEach(found -> ids.put(found.name(), found.id()));
            cache(ids);
        }
        return ids;
    }

    void forget(Collection<Long> ids) {
        cached.values().removeAll(ids);
    }

    private void cache(Map<String, Long> ids) {
        if (cached.size() > MAX_CACHED) {
            cached.clear();
        }
        cached.putAll(ids);
    }
}
