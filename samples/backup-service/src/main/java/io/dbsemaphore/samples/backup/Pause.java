package io.dbsemaphore.samples.backup;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.locks.LockSupport;

/** Lets time pass: for work that is made up, and between two looks at the database. */
public final class Pause {

    private Pause() {}

    /**
     * Pauses this thread.
     *
     * @throws CancellationException when it is interrupted, as on shutdown; the flag stays set
     */
    public static void of(Duration duration) {
        long end = System.nanoTime() + duration.toNanos();
        for (long rest = duration.toNanos(); rest > 0; rest = end - System.nanoTime()) {
            LockSupport.parkNanos(rest);
            if (Thread.currentThread().isInterrupted()) {
                throw new CancellationException("Interrupted");
            }
        }
    }
}
