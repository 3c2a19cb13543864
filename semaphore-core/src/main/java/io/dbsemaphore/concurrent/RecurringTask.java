package io.dbsemaphore.concurrent;

import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * A task that recurs while it is needed, on a thread of its own, so that it never waits for other work. The thread starts with
 * {@link #ensureRunning}, and ends when the task is no longer needed. A failure of the task does not end it.
 */
public final class RecurringTask implements AutoCloseable {

    /** What {@link Task#nanosToNext} returns when the task is no longer needed. */
    public static final long NOT_NEEDED = Long.MIN_VALUE;

    /** What recurs. */
    public interface Task {

        /**
         * The time until the next run: 0 or less when it is due, {@link #NOT_NEEDED} when the thread may end. Called again after
         * each {@link #wake}, and before the thread ends. Called under a lock: must not block.
         */
        long nanosToNext();

        void run();
    }

    private static final Logger log = LoggerFactory.getLogger(RecurringTask.class);

    private static final long LONGEST_WAIT = TimeUnit.HOURS.toNanos(1);

    private final DaemonThreads threads;
    private final String name;
    private final Consumer<Runnable> context;
    private final Task task;
    private final Monitor monitor = new Monitor();
    private boolean running;
    private volatile boolean closed;
    private volatile long wakesAt = System.nanoTime();

    /**
     * Creates a task that does not run yet.
     *
     * @param name the name of the thread
     * @param context runs the loop of the thread
     */
    public RecurringTask(DaemonThreads threads, String name, Consumer<Runnable> context, Task task) {
        this.threads = threads;
        this.name = name;
        this.context = context;
        this.task = task;
    }

    /**
     * Starts the thread if it does not run. From before this call on the task must be needed.
     *
     * @throws Error when the thread cannot be started
     */
    public void ensureRunning() {
        monitor.run(() -> {
            if (!running && !closed) {
                threads.start(name, () -> context.accept(this::loop));
                running = true;
            }
        });
    }

    /** Computes the time of the next run again. */
    public void wake() {
        monitor.wakeAll();
    }

    /** As {@link #wake}, unless the thread does so by itself within this time. */
    public void wakeWithin(long nanos) {
        if (System.nanoTime() + Math.min(nanos, LONGEST_WAIT) - wakesAt < 0) {
            wake();
        }
    }

    /** Ends the thread when the current run has ended. */
    @Override
    public void close() {
        closed = true;
        wake();
    }

    private void loop() {
        boolean goesOn = true;
        while (goesOn) {
            try {
                goesOn = monitor.is(this::awaitNext);
                if (goesOn) {
                    task.run();
                }
            } catch (Throwable failure) {
                UnexpectedErrors.survive(log, "The thread " + name, failure);
            }
        }
    }

    /** Waits until the task is due; false when the thread is to end. */
    private boolean awaitNext() {
        while (!closed) {
            wakesAt = System.nanoTime()
                    + 2 * LONGEST_WAIT; // what changes while the time is computed has to wake the thread
            long nanos = task.nanosToNext();
            if (nanos == NOT_NEEDED) {
                break;
            }
            if (nanos <= 0) {
                return true;
            }
            long wait = Math.min(nanos, LONGEST_WAIT);
            wakesAt = System.nanoTime() + wait;
            monitor.await(wait);
        }
        running = false;
        return false;
    }
}
