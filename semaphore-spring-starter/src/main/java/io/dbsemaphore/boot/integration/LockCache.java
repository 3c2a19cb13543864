package io.dbsemaphore.boot.integration;

import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Consumer;
import java.util.function.Function;

/**
 * The locks of one registry by key, so that all threads that name a key share its lock. Beyond its capacity, the least
 * recently obtained locks are removed, except those that a thread holds or waits for. A removed lock that the application still
 * refers to is returned when its key is named again: two locks of one key would neither be re-entrant nor exclude one another.
 */
final class LockCache {

    private final int capacity;
    private final Function<String, PermitLock> factory;
    private final Consumer<String> removed;
    private final Map<String, PermitLock> locks = new LinkedHashMap<>(16, 0.75f, true);
    /** Guarded by the monitor of {@link #locks}. */
    private final Map<String, WeakReference<PermitLock>> removedLocks = new HashMap<>();

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
            lock = locks.computeIfAbsent(key, this::knownOrNew);
            Iterator<PermitLock> eldest = locks.values().iterator();
            while (locks.size() > capacity && eldest.hasNext()) {
                PermitLock each = eldest.next();
                if (each != lock && !each.isInUse()) {
                    eldest.remove();
                    remember(each);
                    excess.add(each.key());
                }
            }
        }
        excess.forEach(removed);
        return lock;
    }

    private PermitLock knownOrNew(String key) {
        WeakReference<PermitLock> known = removedLocks.remove(key);
        PermitLock lock = known == null ? null : known.get();
        return lock == null ? factory.apply(key) : lock;
    }

    private void remember(PermitLock lock) {
        removedLocks.values().removeIf(each -> each.get() == null);
        removedLocks.put(lock.key(), new WeakReference<>(lock));
    }

    void removeUnusedFor(Duration age) {
        List<String> unused = new ArrayList<>();
        synchronized (locks) {
            locks.values().removeIf(lock -> {
                boolean remove = lock.isUnusedFor(age);
                if (remove) {
                    remember(lock);
                    unused.add(lock.key());
                }
                return remove;
            });
        }
        unused.forEach(removed);
    }
}
