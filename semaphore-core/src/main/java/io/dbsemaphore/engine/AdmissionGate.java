package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreClosedException;
import java.time.Duration;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;

/**
 * Lets attempts to acquire in until it is closed, any number at a time. Once closed and {@linkplain #awaitNone waited for},
 * none is under way and none begins. An attempt may end on another thread than it began on.
 */
final class AdmissionGate {

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition ended = lock.newCondition();
    private long underWay;
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
            leave();
        }
    }

    /**
     * An attempt begins, and is under way until it {@linkplain #leave leaves}.
     *
     * @throws SemaphoreClosedException when closed
     */
    void enter() {
        lock.lock();
        try {
            if (closed) {
                throw new SemaphoreClosedException();
            }
            underWay++;
        } finally {
            lock.unlock();
        }
    }

    /** An attempt has ended. */
    void leave() {
        lock.lock();
        try {
            if (--underWay == 0) {
                ended.signalAll();
            }
        } finally {
            lock.unlock();
        }
    }

    /** Lets nothing in any more. */
    void close() {
        lock.lock();
        try {
            closed = true;
        } finally {
            lock.unlock();
        }
    }

    /** Waits for attempts under way; false when some were still under way after so long. */
    boolean awaitNone(Duration patience) throws InterruptedException {
        long nanos = patience.toNanos();
        lock.lock();
        try {
            while (underWay > 0 && nanos > 0) {
                nanos = ended.awaitNanos(nanos);
            }
            return underWay == 0;
        } finally {
            lock.unlock();
        }
    }
}
