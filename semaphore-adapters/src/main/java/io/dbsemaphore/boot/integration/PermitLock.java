package io.dbsemaphore.boot.integration;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.SemaphoreException;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.admin.PatternLimitExceededException;
import io.dbsemaphore.boot.mutex.MutexRequests;
import java.time.Duration;
import java.util.ConcurrentModificationException;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.transaction.TransactionException;

/**
 * A lock across all instances: a re-entrant lock of this JVM, whose holder also has a permit. Threads of this JVM wait for one another
 * without the database, and exclude one another even if the permit expires.
 */
final class PermitLock implements DistributedLock {

    /** A hundred years: in nanoseconds, durations of more than 292 years overflow. */
    private static final Duration LONGEST_WAIT = Duration.ofDays(36_500);

    /** How many times a lock is tried if no more semaphores may be created: other instances may take the places that are freed. */
    private static final int ATTEMPTS = 3;

    private final String key;
    private final SemaphoreOperations semaphores;
    private final MutexRequests requests;
    private final Runnable deleteSomeUnused;

    /** Guards the fields of the permit. */
    private final ReentrantLock local = new ReentrantLock(true);

    private @Nullable PermitGrant grant;
    private boolean lost;
    /** The longest time to live that the thread has asked for since it first entered. */
    private Duration longestTtl = Duration.ZERO;

    private volatile long lastUsed = System.nanoTime();

    /** @param deleteSomeUnused makes room if no more semaphores may be created */
    PermitLock(String key, SemaphoreOperations semaphores, MutexRequests requests, Runnable deleteSomeUnused) {
        this.key = key;
        this.semaphores = semaphores;
        this.requests = requests;
        this.deleteSomeUnused = deleteSomeUnused;
    }

    String key() {
        return key;
    }

    /** Whether a thread of this JVM has the lock or waits for it. */
    boolean isInUse() {
        return local.isLocked() || local.hasQueuedThreads();
    }

    boolean isUnusedFor(Duration age) {
        return !isInUse() && Duration.ofNanos(System.nanoTime() - lastUsed).compareTo(age) > 0;
    }

    @Override
    public void lock() {
        lock(requests.ttl());
    }

    @Override
    public void lock(Duration ttl) {
        local.lock();
        enterOrUnlock(() -> enterUninterruptibly(LONGEST_WAIT, ttl));
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        local.lockInterruptibly();
        enterOrUnlock(() -> enter(LONGEST_WAIT, requests.ttl()));
    }

    @Override
    public boolean tryLock() {
        return local.tryLock() && enterOrUnlock(() -> enterUninterruptibly(Duration.ZERO, requests.ttl()));
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return tryLock(Duration.ofNanos(unit.toNanos(time)), requests.ttl());
    }

    @Override
    public boolean tryLock(Duration waitTime, Duration ttl) throws InterruptedException {
        Duration wait = waitTime.compareTo(LONGEST_WAIT) > 0 ? LONGEST_WAIT : waitTime;
        long deadline = System.nanoTime() + wait.toNanos();
        return local.tryLock(wait.toNanos(), TimeUnit.NANOSECONDS)
                && enterOrUnlock(() -> enter(Duration.ofNanos(Math.max(0, deadline - System.nanoTime())), ttl));
    }

    @Override
    public void unlock() {
        requireHeldByThisThread();
        lastUsed = System.nanoTime();
        try {
            if (local.getHoldCount() == 1) {
                release();
            }
        } finally {
            local.unlock();
        }
    }

    /** {@return whether the permit is still held; false if it is lost} */
    boolean renew(Duration ttl) {
        requireHeldByThisThread();
        lastUsed = System.nanoTime();
        return renewGrant(ttl);
    }

    @Override
    public Condition newCondition() {
        throw new UnsupportedOperationException("A lock of several instances has no conditions");
    }

    @Override
    public String toString() {
        return "Lock[" + key + (isInUse() ? ", in use" : "") + "]";
    }

    private void requireHeldByThisThread() {
        if (!local.isHeldByCurrentThread()) {
            throw new IllegalMonitorStateException("The current thread does not own lock '" + key + "'");
        }
    }

    private interface Entry<X extends Exception> {

        boolean enter() throws X;
    }

    /** Enters; the lock of this JVM is held already, and released if the permit is not acquired. */
    private <X extends Exception> boolean enterOrUnlock(Entry<X> entry) throws X {
        boolean acquired = false;
        try {
            acquired = entry.enter();
            return acquired;
        } catch (SemaphoreException | DataAccessException | TransactionException failure) {
            throw new CannotAcquireLockException(
                    "Lock '" + key + "' was not acquired: " + failure.getMessage(), failure);
        } finally {
            lastUsed = System.nanoTime();
            if (!acquired) {
                local.unlock();
            }
        }
    }

    /** Acquires the permit. If an interrupt comes while the database decides, a refusal is thrown as an interruption; a permit is kept. */
    private boolean enter(Duration waitTime, Duration ttl) throws InterruptedException {
        try {
            if (acquireOrRenew(waitTime, ttl)) {
                return true;
            }
            if (Thread.interrupted()) {
                throw new InterruptedException("Interrupted while waiting for lock '" + key + "'");
            }
            return false;
        } catch (AcquireInterruptedException interrupt) {
            Thread.interrupted();
            throw (InterruptedException)
                    new InterruptedException("Interrupted while waiting for lock '" + key + "'").initCause(interrupt);
        }
    }

    /** Acquires the permit. Starts again when it is interrupted, and sets the interrupt flag at the end. */
    private boolean enterUninterruptibly(Duration waitTime, Duration ttl) {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    boolean acquired = acquireOrRenew(waitTime, ttl);
                    if (acquired || waitTime.isZero() || !Thread.interrupted()) {
                        return acquired;
                    }
                    interrupted = true; // while the database decided
                } catch (AcquireInterruptedException interrupt) {
                    interrupted |= Thread.interrupted();
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /**
     * Acquires the permit. If the thread already has the permit, it is renewed for the longest time to live since the thread first entered,
     * so that no call shortens it. An expired permit is restored if nobody else has had it since; otherwise it is acquired anew, which
     * {@link #release} reports.
     *
     * @return false if it did not become available within the wait time
     */
    private boolean acquireOrRenew(Duration waitTime, Duration ttl) {
        PermitGrant entered = grant;
        if (entered != null && (renewGrant(longer(ttl)) || restore(entered, ttl))) {
            return true;
        }
        return acquire(requests.of(key, ttl).withWaitTime(waitTime), ttl);
    }

    /**
     * Renews the permit, if there is one.
     *
     * @return false if there is none, or it is lost
     */
    private boolean renewGrant(Duration ttl) {
        if (grant == null || !MutexRequests.renew(grant, ttl)) {
            return false;
        }
        longestTtl = longer(ttl);
        return true;
    }

    /** @throws ConcurrentModificationException if the permit was taken at any time since the thread first entered */
    private void release() {
        PermitGrant released = grant;
        boolean wasLost = lost || released == null;
        grant = null;
        lost = false;
        longestTtl = Duration.ZERO;
        if (released != null) {
            ReleaseOutcome outcome = released.release();
            wasLost |= outcome == ReleaseOutcome.ALREADY_RELEASED || outcome == ReleaseOutcome.NOT_FOUND;
        }
        if (wasLost) {
            throw new ConcurrentModificationException(
                    "Lock '" + key + "' expired, or an operator released it, before its"
                            + " holder did. Another instance may have had it meanwhile: data that it protects may be"
                            + " inconsistent. Work that takes longer than the time to live has to renew the lock");
        }
    }

    /**
     * Acquires again by the external id, which identifies the request unless somebody has taken the permit. Another fencing token means
     * that somebody has, and that the request has been deleted since.
     */
    private boolean restore(PermitGrant expired, Duration ttl) {
        try {
            boolean acquired = acquire(requests.of(key, ttl).withExternalId(expired.externalId()), ttl);
            lost |= grant == null || grant.fencingToken() != expired.fencingToken();
            return acquired;
        } catch (RequestAlreadyReleasedException taken) {
            grant = null;
            lost = true;
            return false;
        }
    }

    private boolean acquire(AcquireRequest request, Duration ttl) {
        for (int attempt = 1; ; attempt++) {
            try {
                grant = semaphores.tryAcquire(request).orElse(null);
                longestTtl = grant == null ? longestTtl : longer(ttl);
                return grant != null;
            } catch (PatternLimitExceededException full) {
                if (attempt == ATTEMPTS) {
                    throw full;
                }
                deleteSomeUnused.run();
            }
        }
    }

    private Duration longer(Duration ttl) {
        return longestTtl.compareTo(ttl) > 0 ? longestTtl : ttl;
    }
}
