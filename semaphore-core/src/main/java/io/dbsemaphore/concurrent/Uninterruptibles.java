package io.dbsemaphore.concurrent;

import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Waits without being interrupted. If the thread is interrupted, its flag is set afterwards. */
public final class Uninterruptibles {

    private Uninterruptibles() {}

    /** Waits for a permit of a {@link Semaphore}, at most for this time. */
    public static boolean acquire(Semaphore semaphore, long nanos) {
        long until = System.nanoTime() + Math.max(0, nanos);
        return await(() -> semaphore.tryAcquire(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS));
    }

    /** Waits for a latch, at most for this time. Returns whether it is open. */
    public static boolean await(CountDownLatch latch, long nanos) {
        long until = System.nanoTime() + Math.max(0, nanos);
        return await(() -> latch.await(Math.max(0, until - System.nanoTime()), TimeUnit.NANOSECONDS));
    }

    public static void pause(long nanos) {
        await(new CountDownLatch(1), nanos);
    }

    /**
     * Waits for a result.
     *
     * @throws ExecutionException with the failure as its cause
     */
    public static <T extends @Nullable Object> T get(Future<T> result) throws ExecutionException {
        return await(result::get);
    }

    private interface Wait<T extends @Nullable Object, X extends Exception> {

        T run() throws InterruptedException, X;
    }

    private static <T extends @Nullable Object, X extends Exception> T await(Wait<T, X> wait) throws X {
        boolean interrupted = Thread.interrupted();
        try {
            while (true) {
                try {
                    return wait.run();
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
}
