package io.dbsemaphore.boot.integration;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.boot.mutex.MutexRequests;
import java.time.Duration;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.ExpirableLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;
import org.springframework.integration.support.locks.RenewableLockRegistry;

/**
 * A {@link LockRegistry} of Spring Integration. The lock of a key is a semaphore whose only permit the holder has, in all
 * instances of the application. Thread-safe.
 *
 * <p>A lock is re-entrant for its thread, and its threads in one instance wait for one another without the database. It
 * expires when its time to live has passed: its {@code unlock} then throws {@link java.util.ConcurrentModificationException}, as
 * that of {@code JdbcLockRegistry} does. Threads that wait are served in the order of their arrival, instance by instance.
 *
 * <p>Keys are texts. A failure to acquire is a {@link org.springframework.dao.CannotAcquireLockException}, whose cause says why.
 */
public final class SemaphoreLockRegistry
        implements ExpirableLockRegistry<DistributedLock>, RenewableLockRegistry<DistributedLock> {

    private final MutexRequests requests;
    private final LockCache locks;

    /**
     * Creates a registry.
     *
     * @param semaphores what the locks are acquired by
     * @param admin what deletes the semaphores of forgotten locks
     * @param requests the names of the semaphores, which a pattern must match, and their time to live
     * @param cacheCapacity the number of locks that are remembered, at least 1
     */
    SemaphoreLockRegistry(
            SemaphoreOperations semaphores, SemaphoreAdmin admin, MutexRequests requests, int cacheCapacity) {
        this.requests = requests;
        UnusedSemaphores unused = new UnusedSemaphores(admin, requests);
        this.locks = new LockCache(
                cacheCapacity,
                key -> new PermitLock(key, requests.ttl(), new PermitLock.Permit(semaphores, unused, requests, key)),
                unused);
    }

    /**
     * {@inheritDoc}
     *
     * @throws IllegalArgumentException if the key is not a text
     */
    @Override
    public DistributedLock obtain(Object lockKey) {
        return lock(lockKey);
    }

    /** Forgets these locks, and deletes their semaphores unless another instance uses them. */
    @Override
    public void expireUnusedOlderThan(long age) {
        locks.removeUnusedFor(Duration.ofMillis(age));
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
        if (lockKey instanceof String key) {
            return locks.get(key);
        }
        throw new IllegalArgumentException("The key of a lock must be a String: " + lockKey);
    }
}
