package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreClosedException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Admits acquires until it is closed, any number at a time. After {@link #close} and {@link #awaitNone}, none is in progress and
 * none begins. An acquire may end on another thread than it began on.
 */
final class AdmissionGate {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ended = lock.newCondition();
    private long inProgress;
    private boolean closed;

    /**
     * Runs an attempt.
     *
     * @throws SemaphoreClosedException when closed
     */
    <T> T admit(Supplier<T> attempt) {
        enter();
        try {
            return attempt.get();
        } finally {
            exit();
        }
    }

    /**
     * Begins an acquire, which is in progress until {@link #exit}.
     *
     * @throws SemaphoreClosedException when closed
     */
    void enter() {
        lock.lock();
        try {
            if (closed) {
                throw new SemaphoreClosedException();
            }
            inProgress++;
        } finally {
            lock.unlock();
        }
    }

    /** Ends an acquire. */
    void exit() {
        lock.lock();
        try {
            if (--inProgress == 0) {
                ended.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Admits no further acquires. */
    void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
    }

    /** Waits until no acquire is in progress. Returns false if the timeout passed before. */
    boolean awaitNone(Duration timeout) throws InterruptedException {
        long nanos = timeout.toNanos();
        lock.lock();
        try {
            while (inProgress > 0 && nanos > 0) {
                nanos = ended.awaitNanos(nanos);
            }
            return inProgress == 0;
        } finally {
            lock.unlock();
        }
    }
}
