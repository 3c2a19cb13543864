package io.dbsemaphore.concurrent;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.TimeUnit;
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

    private final Monitor monitor = new Monitor();
    private final Queue<Supplier<Thread>> waiting = new ArrayDeque<>();
    private volatile boolean closed;

    /** Adds a thread to be started later. Returns false if closed. */
    boolean add(Supplier<Thread> thread) {
        return monitor.is(() -> {
            monitor.signal();
            return !closed && waiting.add(thread);
        });
    }

    /** Ends the loop. Threads that could not be started until then are not started. */
    void close() {
        closed = true;
        monitor.wakeAll();
    }

    /** Runs on the thread until {@link #close}. */
    void run() {
        boolean more = true;
        while (more) {
            try {
                more = monitor.is(this::next);
            } catch (Throwable failure) {
                UnexpectedErrors.survive(log, "The late start of threads", failure);
            }
        }
    }

    /** The caller calls again, until this returns false. */
    private boolean next() {
        if (closed) {
            return false;
        }
        if (waiting.isEmpty()) {
            monitor.await(Long.MAX_VALUE);
        } else if (!startFirst()) {
            monitor.await(TRY_EVERY);
        }
        return true;
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
}
