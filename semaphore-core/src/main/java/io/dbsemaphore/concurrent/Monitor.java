package io.dbsemaphore.concurrent;

import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A lock that runs short sections of code, with one condition, on which the threads of the library wait. An interrupt does not
 * end them.
 */
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

    public void run(Runnable work) {
        lock.lock();
        try {
            work.run();
        } finally {
            lock.unlock();
        }
    }

    public <T extends @Nullable Object> T underLock(Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
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

    public void wakeAll() {
        run(changed::signalAll);
    }
}
