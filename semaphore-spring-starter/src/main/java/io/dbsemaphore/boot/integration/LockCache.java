package io.dbsemaphore.boot.integration;

import java.time.Duration;
import java.util.ArrayList;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The locks of one registry by key, so that all threads that name a key share its lock. Beyond its capacity, the least
 * recently obtained locks are removed, except those that a thread holds or waits for.
 */
final class LockCache {

    private final int capacity;
    private final Function<String, PermitLock> factory;
    private final Consumer<String> removed;
    private final Map<String, PermitLock> locks = new LinkedHashMap<>(16, 0.75f, true);

    /** @param removed told of the keys of locks that were removed, outside of any monitor */
    LockCache(int capacity, Function<String, PermitLock> factory, Consumer<String> removed) {
        this.capacity = capacity;
        this.factory = factory;
        this.removed = removed;
    }

    PermitLock get(String key) {
        List<String> excess = new ArrayList<>();
        PermitLock lock;
        synchronized (locks) {
            lock = locks.computeIfAbsent(key, factory);
            Iterator<PermitLock> eldest = locks.values().iterator();
            while (locks.size() > capacity && eldest.hasNext()) {
                PermitLock each = eldest.next();
                if (each != lock && !each.isInUse()) {
                    eldest.remove();
                    excess.add(each.key());
                }
            }
        }
        excess.forEach(removed);
        return lock;
    }

    void removeUnusedFor(Duration age) {
        List<String> unused = new ArrayList<>();
        synchronized (locks) {
            locks.values().removeIf(lock -> {
                boolean remove = lock.isUnusedFor(age);
                if (remove) {
                    unused.add(lock.key());
                }
                return remove;
            });
        }
        unused.forEach(removed);
    }
}
