package io.dbsemaphore.engine.support;

import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/**
 * Runs database work, and waits, with the thread's interrupt flag cleared, and set again afterwards: with the flag set, pools
 * refuse a connection, and on a virtual thread its socket is closed.
 */
public final class Uninterruptibles {

    private Uninterruptibles() {}

    public static <T extends @Nullable Object> T call(Supplier<T> work) {
        boolean interrupted = Thread.interrupted();
        try {
            return work.get();
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Waits for a permit of a {@link Semaphore}, at most until the deadline. */
    public static boolean acquire(Semaphore semaphore, Deadline until) {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return semaphore.tryAcquire(Math.max(0, until.remainingNanos()), TimeUnit.NANOSECONDS);
                } catch (InterruptedException interrupt) {
                    interrupted = true;
                }
            }
        } finally {
            if (interrupted) {
                Thread.currentThread().interrupt();
            }
        }
    }

    /** Waits until the deadline. */
    public static void pause(Deadline until) {
        boolean unused = acquire(new Semaphore(0), until);
    }
}
