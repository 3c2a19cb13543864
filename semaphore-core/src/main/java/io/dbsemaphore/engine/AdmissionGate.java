package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreClosedException;
import java.time.Duration;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;

/**
 * Admits acquires until it is closed, any number at a time. After {@link #close} and {@link #awaitNone}, none is in progress and
 * none begins. An acquire may end on another thread than it began on.
 */
final class AdmissionGate {

    private static final int ANY_NUMBER = Integer.MAX_VALUE;

    private final Semaphore places = new Semaphore(ANY_NUMBER);
    private volatile boolean closed;

    /**
     * Begins an acquire, which is in progress until {@link #exit}.
     *
     * @throws SemaphoreClosedException when closed
     */
    void enter() {
        if (closed || !places.tryAcquire()) {
            throw new SemaphoreClosedException();
        }
        if (closed) { // meanwhile
            exit();
            throw new SemaphoreClosedException();
        }
    }

    void exit() {
        places.release();
    }

    void close() {
        closed = true;
    }

    /** Waits until no acquire is in progress. Returns false if the timeout passed before. To be called when closed. */
    boolean awaitNone(Duration timeout) throws InterruptedException {
        boolean none = places.tryAcquire(ANY_NUMBER) // also if the thread is interrupted
                || places.tryAcquire(ANY_NUMBER, timeout.toNanos(), TimeUnit.NANOSECONDS);
        if (none) {
            places.release(ANY_NUMBER);
        }
        return none;
    }
}
