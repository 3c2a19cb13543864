package io.dbsemaphore.samples.backup;

import java.time.Duration;
import java.util.concurrent.CancellationException;
import java.util.concurrent.TimeUnit;

/** Lets time pass: in simulated work, and between two polls of the database. */
public final class Pause {

    private Pause() {}

    /**
     * Pauses this thread.
     *
     * @throws CancellationException when it is interrupted, as on shutdown; the flag stays set
     */
    public static void of(Duration duration) {
        try {
            TimeUnit.NANOSECONDS.sleep(duration.toNanos());
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new CancellationException("Interrupted");
        }
    }
}
