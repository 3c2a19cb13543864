package io.dbsemaphore.concurrent;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import java.util.function.Supplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Starts threads that could not be started when they were needed, as soon as the system can create threads again. Runs
 * on its own thread, which is created in advance, since it could not be created in that situation either.
 */
final class PendingThreadStarts {

    private static final Logger log = LoggerFactory.getLogger(PendingThreadStarts.class);

    private static final long TRY_EVERY = TimeUnit.MILLISECONDS.toNanos(50);

    private final ReentrantLock lock = new ReentrantLock();
    private final Condition changed = lock.newCondition();
    private final Queue<Supplier<Thread>> waiting = new ArrayDeque<>();
    private boolean closed;

    /** Adds a thread to be started later. Returns false if closed. */
    boolean add(Supplier<Thread> thread) {
        lock.lock();
        try {
            changed.signalAll();
            return !closed && waiting.add(thread);
        } finally {
            lock.unlock();
        }
    }

    /** Ends the loop. Threads that could not be started until then are not started. */
    void close() {
        lock.lock();
        try {
            closed = true;
            changed.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** Runs on the thread until {@link #close}. */
    void run() {
        boolean more = true;
        while (more) {
            try {
                more = next();
            } catch (Throwable failure) {
                UnexpectedErrors.survive(log, "The late start of threads", failure);
            }
        }
    }

    /** The caller calls again, until this returns false. */
    @SuppressWarnings("WaitNotInLoop")
    private boolean next() {
        lock.lock();
        try {
            if (closed) {
                return false;
            }
            if (waiting.isEmpty()) {
                changed.awaitUninterruptibly();
            } else if (!startFirst()) {
                await();
            }
            return true;
        } finally {
            lock.unlock();
        }
    }

    private boolean startFirst() {
        try {
            waiting.element().get().start();
        } catch (Throwable stillNone) {
            return false;
        }
        waiting.remove();
        return true;
    }

    /** The caller checks the condition again. */
    @SuppressWarnings("WaitNotInLoop")
    private void await() {
        try {
            long unused = changed.awaitNanos(TRY_EVERY);
        } catch (InterruptedException ignored) {
            log.debug("The thread was interrupted and continues", ignored);
        }
    }
}
