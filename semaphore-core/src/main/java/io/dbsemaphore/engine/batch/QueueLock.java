package io.dbsemaphore.engine.batch;

import java.util.concurrent.locks.ReentrantLock;
import java.util.function.BooleanSupplier;
import java.util.function.Supplier;

/** A mutual exclusion lock that runs short sections of code. */
final class QueueLock {

    private final ReentrantLock lock = new ReentrantLock();

    void run(Runnable work) {
        lock.lock();
        try {
            work.run();
        } finally {
            lock.unlock();
        }
    }

    boolean is(BooleanSupplier work) {
        lock.lock();
        try {
            return work.getAsBoolean();
        } finally {
            lock.unlock();
        }
    }

    <T> T get(Supplier<T> work) {
        lock.lock();
        try {
            return work.get();
        } finally {
            lock.unlock();
        }
    }
}
