package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreClosedException;
import java.time.Duration;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.ReadWriteLock;
import java.util.concurrent.locks.ReentrantReadWriteLock;
import java.util.function.Supplier;

/** Lets attempts to acquire in until it is closed. Once closed, none is under way and none begins. */
final class Intake {

    private final ReadWriteLock lock = new ReentrantReadWriteLock();
    private volatile boolean closed;

    /**
     * Runs an attempt.
     *
     * @throws SemaphoreClosedException when closed
     */
    <T> T admit(Supplier<T> attempt) {
        if (closed) { // without the wait for those under way
            throw new SemaphoreClosedException();
        }
        lock.readLock().lock();
        try {
            if (closed) {
                throw new SemaphoreClosedException();
            }
            return attempt.get();
        } finally {
            lock.readLock().unlock();
        }
    }

    /** Lets nothing in any more. */
    void close() {
        closed = true;
    }

    /** Waits for attempts under way; false when some were still under way after so long. */
    boolean awaitNone(Duration patience) throws InterruptedException {
        if (!lock.writeLock().tryLock(patience.toMillis(), TimeUnit.MILLISECONDS)) {
            return false;
        }
        lock.writeLock().unlock();
        return true;
    }
}
