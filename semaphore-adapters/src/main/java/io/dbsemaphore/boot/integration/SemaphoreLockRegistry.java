package io.dbsemaphore.boot.integration;

import io.dbsemaphore.SemaphoreException;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreInUseException;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.boot.mutex.MutexRequests;
import java.lang.ref.WeakReference;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.HashMap;
import java.util.Iterator;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Predicate;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.dao.DataAccessException;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * A {@link LockRegistry} of Spring Integration. The lock of a key is a semaphore with one permit, for all instances of the
 * application. Thread-safe.
 *
 * <p>A lock is re-entrant for its thread. Threads of one instance wait for one another without the database. Waiting instances are served
 * in order of arrival, as are each instance's threads. A lock expires when its time to live has passed. If another instance has held it
 * since, or the maintenance has released it, {@code unlock} throws {@link java.util.ConcurrentModificationException}; otherwise {@code
 * unlock} releases it as usual.
 *
 * <p>Keys are strings. A failure to acquire throws a {@link org.springframework.dao.CannotAcquireLockException}, whose cause says why.
 */
public final class SemaphoreLockRegistry
        implements ExpirableLockRegistry<DistributedLock>, RenewableLockRegistry<DistributedLock> {

    private static final Logger log = LoggerFactory.getLogger(SemaphoreLockRegistry.class);

    /** How many semaphores are deleted at once if no more may be created. */
    private static final int AT_ONCE = 50;

    private final SemaphoreOperations semaphores;
    private final SemaphoreAdmin admin;
    private final MutexRequests requests;
    private final int cacheCapacity;

    /** The locks by key, the least recently obtained first. All threads that use a key share its lock. */
    private final Map<String, PermitLock> locks = new LinkedHashMap<>(16, 0.75f, true);

    /**
     * The forgotten locks that the application still refers to. They are returned when their keys are used again, since two locks of one
     * key would be neither re-entrant nor exclusive. Guarded by the monitor of {@link #locks}.
     */
    private final Map<String, WeakReference<PermitLock>> forgotten = new HashMap<>();

    /**
     * Creates a registry.
     *
     * @param semaphores acquires the locks
     * @param admin deletes the semaphores of forgotten locks
     * @param requests the names of the semaphores, which a pattern must match, and their time to live
     * @param cacheCapacity the number of locks that are remembered, at least 1
     */
    SemaphoreLockRegistry(
            SemaphoreOperations semaphores, SemaphoreAdmin admin, MutexRequests requests, int cacheCapacity) {
        this.semaphores = semaphores;
        this.admin = admin;
        this.requests = requests;
        this.cacheCapacity = cacheCapacity;
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException if the key is not a {@code String}
     */
    @Override
    public DistributedLock obtain(Object lockKey) {
        return lock(lockKey);
    }

    /** Forgets locks that have been unused for this long, and deletes their semaphores unless another instance uses them. */
    @Override
    public void expireUnusedOlderThan(long age) {
        forget(0, lock -> lock.isUnusedFor(Duration.ofMillis(age)));
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalMonitorStateException if the current thread does not have the lock
     * @throws IllegalStateException if it has expired
     */
    @Override
    public void renewLock(Object lockKey) {
        renewLock(lockKey, requests.ttl());
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalMonitorStateException if the current thread does not have the lock
     * @throws IllegalStateException if it has expired
     */
    @Override
    public void renewLock(Object lockKey, Duration ttl) {
        if (!lock(lockKey).renew(ttl)) {
            throw new IllegalStateException(
                    "Lock '" + lockKey + "' cannot be renewed: it has expired or was released by an"
                            + " operator, and another instance may have it. Stop the work that it protects");
        }
    }

    private PermitLock lock(Object lockKey) {
        if (!(lockKey instanceof String key)) {
            throw new IllegalArgumentException("The key of a lock must be a String: " + lockKey);
        }
        PermitLock lock;
        synchronized (locks) {
            lock = locks.computeIfAbsent(key, this::knownOrNew);
        }
        forget(cacheCapacity, each -> each != lock && !each.isInUse());
        return lock;
    }

    private PermitLock knownOrNew(String key) {
        WeakReference<PermitLock> known = forgotten.remove(key);
        PermitLock lock = known == null ? null : known.get();
        return lock == null ? new PermitLock(key, semaphores, requests, this::deleteSomeUnused) : lock;
    }

    /**
     * Forgets locks, the least recently obtained first, and deletes their semaphores: there may be as many keys as messages.
     *
     * @param staying how many locks stay
     * @param removable whether a lock may go
     */
    private void forget(int staying, Predicate<PermitLock> removable) {
        List<String> keys = new ArrayList<>();
        synchronized (locks) {
            Iterator<PermitLock> eldest = locks.values().iterator();
            while (locks.size() > staying && eldest.hasNext()) {
                PermitLock each = eldest.next();
                if (removable.test(each)) {
                    eldest.remove();
                    forgotten.put(each.key(), new WeakReference<>(each));
                    keys.add(each.key());
                }
            }
            if (!keys.isEmpty()) {
                forgotten.values().removeIf(lock -> lock.get() == null);
            }
        }
        keys.forEach(this::deleteIfUnused);
    }

    /** Deletes a semaphore, unless another instance uses it or an operator has changed its capacity. */
    private void deleteIfUnused(String key) {
        String name = requests.name(key);
        try {
            admin.find(name).filter(SemaphoreLockRegistry::isUnused).ifPresent(status -> admin.delete(name));
        } catch (SemaphoreException | DataAccessException failure) {
            log.debug("Semaphore '{}' of an unused lock was not deleted; the maintenance does it later", name, failure);
        }
    }

    /**
     * Deletes some semaphores of locks, regardless of which instance remembers them: a stopped instance never deletes its own. Stops at
     * the first failure of the database, so that the caller is not delayed further.
     */
    private void deleteSomeUnused() {
        try {
            List<SemaphoreStatus> unused = new ArrayList<>(admin.list());
            unused.removeIf(status -> !requests.isName(status.name()) || !isUnused(status));
            Collections.shuffle(unused); // several instances may do this at the same time
            unused.stream().limit(AT_ONCE).forEach(status -> delete(status.name()));
        } catch (DataAccessException failure) {
            log.debug("A semaphore of an unused lock was not deleted; the maintenance does it later", failure);
        }
    }

    private void delete(String name) {
        try {
            admin.delete(name);
        } catch (SemaphoreInUseException used) {
            log.debug("Semaphore '{}' is used again", name, used);
        }
    }

    private static boolean isUnused(SemaphoreStatus status) {
        return status.capacity() == 1 && status.held() == 0 && status.waiting() == 0;
    }
}
