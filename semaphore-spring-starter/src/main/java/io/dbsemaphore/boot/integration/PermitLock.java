package io.dbsemaphore.boot.integration;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.SemaphoreException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.transaction.TransactionException;

/**
 * A lock of all instances: a re-entrant lock of this JVM, whose holder has a permit too. A thread that waits for another one of
 * this JVM does not use the database, and no two of them are in the lock at once even if the permit expires.
 */
final class PermitLock implements DistributedLock {

    /** Durations beyond it overflow in nanoseconds. */
    private static final Duration LONGEST_WAIT = Duration.ofDays(365);

    private final String key;
    private final Duration defaultTtl;
    private final MutexPermit permit;
    private final ReentrantLock local = new ReentrantLock(true);
    private volatile long lastUsed = System.nanoTime();

    PermitLock(String key, Duration defaultTtl, MutexPermit permit) {
        this.key = key;
        this.defaultTtl = defaultTtl;
        this.permit = permit;
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
        lock(defaultTtl);
    }

    @Override
    public void lock(Duration ttl) {
        local.lock();
        enterOrUnlock(() -> {
            boolean acquired = false;
            while (!acquired) {
                acquired = enterUninterruptibly(LONGEST_WAIT, ttl);
            }
            return true;
        });
    }

    @Override
    public void lockInterruptibly() throws InterruptedException {
        local.lockInterruptibly();
        enterOrUnlock(() -> {
            boolean acquired = false;
            while (!acquired) {
                acquired = enter(LONGEST_WAIT, defaultTtl);
            }
            return true;
        });
    }

    @Override
    public boolean tryLock() {
        return local.tryLock() && enterOrUnlock(() -> enterUninterruptibly(Duration.ZERO, defaultTtl));
    }

    @Override
    public boolean tryLock(long time, TimeUnit unit) throws InterruptedException {
        return tryLock(Duration.ofNanos(unit.toNanos(time)), defaultTtl);
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
                permit.exit();
            }
        } finally {
            local.unlock();
        }
    }

    /** @return false if the permit is lost */
    boolean renew(Duration ttl) {
        requireHeldByThisThread();
        lastUsed = System.nanoTime();
        return permit.renew(ttl);
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

    /** Enters with the lock of this JVM, and gives that up if the permit is not acquired. */
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

    /** An interrupt while the database decides ends the wait, too: the permit is then acquired, or not, with the flag set. */
    private boolean enter(Duration waitTime, Duration ttl) throws InterruptedException {
        try {
            if (permit.enter(waitTime, ttl)) {
                return true;
            }
            if (Thread.interrupted()) {
                throw new InterruptedException("Interrupted while waiting for lock '" + key + "'");
            }
            return false;
        } catch (AcquireInterruptedException interrupt) {
            boolean unused = Thread.interrupted();
            throw (InterruptedException)
                    new InterruptedException("Interrupted while waiting for lock '" + key + "'").initCause(interrupt);
        }
    }

    /** Starts again when it is interrupted, and sets the interrupt flag again afterwards. */
    private boolean enterUninterruptibly(Duration waitTime, Duration ttl) {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return permit.enter(waitTime, ttl);
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
}
