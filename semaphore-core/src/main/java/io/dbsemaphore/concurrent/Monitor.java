package io.dbsemaphore.concurrent;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** A lock with one condition, on which the threads of the library wait. An interrupt does not end them. */
public final class Monitor {

    private static final Logger log = LoggerFactory.getLogger(Monitor.class);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();

    public void lock() {
        lock.lock();
    }

    public void unlock() {
        lock.unlock();
    }

    /** Waits, without the lock, for a signal, at most for this time. May return early: the caller checks its condition again. */
    @SuppressWarnings("WaitNotInLoop")
    public void await(long nanos) {
        try {
            long unused = changed.awaitNanos(nanos);
        } catch (InterruptedException interrupt) {
            log.debug("The thread goes on although it was interrupted", interrupt);
        }
    }

    /** Wakes one waiting thread. To be called with the lock. */
    public void signal() {
        changed.signal();
    }

    /** Wakes all waiting threads. To be called without the lock. */
    public void wakeAll() {
        lock.lock();
        try {
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }
}
