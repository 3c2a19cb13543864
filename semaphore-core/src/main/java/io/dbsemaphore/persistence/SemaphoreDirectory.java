package io.dbsemaphore.persistence;

import java.util.Collection;
import java.util.HashMap;
import java.util.HashSet;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.ConcurrentHashMap;

/**
 * Which id a name has. An id is never given twice, so it may be remembered; a semaphore that was deleted is noticed when
 * its row cannot be locked.
 */
final class SemaphoreDirectory {

    private static final int MAX_REMEMBERED = 10_000;

    private final SemaphoreRepository semaphores;
    private final Map<String, Long> remembered = new ConcurrentHashMap<>();

    SemaphoreDirectory(SemaphoreRepository semaphores) {
        this.semaphores = semaphores;
    }

    /** The ids of those names that exist. Within a transaction. */
    Map<String, Long> findIds(Collection<String> names) {
        Map<String, Long> ids = new HashMap<>();
        Set<String> unknown = new HashSet<>();
        for (String name : names) {
            Long id = remembered.get(name);
            if (id == null) {
                unknown.add(name);
            } else {
                ids.put(name, id);
            }
        }
        if (!unknown.isEmpty()) {
            semaphores.findIds(unknown).forEach(found -> ids.put(found.name(), found.id()));
            remember(ids);
        }
        return ids;
    }

    void forget(long id) {
        remembered.values().remove(id);
    }

    private void remember(Map<String, Long> ids) {
        if (remembered.size() > MAX_REMEMBERED) {
            remembered.clear();
        }
        remembered.putAll(ids);
    }
}
