package io.dbsemaphore.engine;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Monitor;
import io.dbsemaphore.concurrent.UnexpectedErrors;
import java.time.Duration;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the completions of asynchronous acquires, which are mostly code of the application, apart from the worker threads. A task
 * that blocks does not delay the others: after {@value #BLOCKED_AFTER_MILLIS} ms it counts as blocked, and another thread runs
 * the next one. Short tasks share as many threads as there are processors. The threads end when idle.
 */
final class CompletionExecutor implements Executor, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(CompletionExecutor.class);

    private static final int BLOCKED_AFTER_MILLIS = 10;
    private static final long BLOCKED_AFTER = TimeUnit.MILLISECONDS.toNanos(BLOCKED_AFTER_MILLIS);
    private static final Duration END_AFTER = Duration.ofSeconds(2);

    private final DaemonThreads factory;
    private final Duration endAfter;
    private final LongSupplier nanoTime;
    private final Monitor monitor = new Monitor();
    private final Queue<Runnable> tasks =
            new ConcurrentLinkedQueue<>(); // an array that cannot grow may lose all of them
    private final @Nullable Run[] latest =
            new Run[Math.max(2, Runtime.getRuntime().availableProcessors())];
    private long runs;
    private int threads;
    private int idle;
    private volatile boolean closed;

    private static final class Run {

        private final Runnable task;
        private final long since;
        private boolean ended;

        Run(Runnable task, long since) {
            this.task = task;
            this.since = since;
        }
    }

    CompletionExecutor(DaemonThreads factory) {
        this(factory, END_AFTER, System::nanoTime);
    }

    /**
     * Creates an executor.
     *
     * @param endAfter how long a thread stays idle before it ends
     * @param nanoTime the clock, as {@link System#nanoTime}
     */
    CompletionExecutor(DaemonThreads factory, Duration endAfter, LongSupplier nanoTime) {
        this.factory = factory;
        this.endAfter = endAfter;
        this.nanoTime = nanoTime;
    }

    @Override
    public void execute(Runnable task) {
        monitor.lock();
        try {
            tasks.add(task);
            if (idle > 0) {
                monitor.signal();
                return;
            }
            if (start() || threads > 0) {
                return;
            }
            tasks.remove(task);
        } finally {
            monitor.unlock();
        }
        task.run(); // no thread can be started; better here than never
    }

    /** Lets the threads end as soon as all tasks are done. */
    @Override
    public void close() {
        closed = true;
        monitor.wakeAll();
    }

    private boolean start() {
        try {
            factory.create("semaphore-completion-" + (threads + 1), this::work).start();
        } catch (Throwable noThread) { // the existing threads run the tasks
            warn(noThread);
            return false;
        }
        threads++;
        idle++;
        return true;
    }

    private static void warn(Throwable noThread) {
        try {
            log.warn("No further thread can be started for the completions of asynchronous acquires", noThread);
        } catch (Throwable ignored) {
            // out of memory, too
        }
    }

    private void work() {
        Run run = null;
        boolean goesOn = true;
        while (goesOn) {
            try {
                run = next(run);
                goesOn = run != null;
                if (run != null) {
                    run(run.task);
                }
            } catch (Throwable failure) { // the thread must go on: it counts as idle, or as one that will be
                UnexpectedErrors.survive(log, "A thread for completions of asynchronous acquires", failure);
            }
        }
    }

    private static void run(Runnable task) {
        try {
            task.run();
        } catch (Throwable failure) {
            log.error("The completion of an asynchronous acquire failed unexpectedly", failure);
        } finally {
            boolean unused = Thread.interrupted(); // which the application may have set
        }
    }

    /**
     * The next task for a thread that has done this one; null when the thread is to end. If it fails, it is to be called again
     * with the same argument.
     */
    private @Nullable Run next(@Nullable Run done) {
        monitor.lock();
        try {
            if (done != null && !done.ended) {
                done.ended = true;
                idle++;
            }
            long endAt = nanoTime.getAsLong() + endAfter.toNanos();
            while (true) {
                long nanos = tasks.isEmpty() ? endAt - nanoTime.getAsLong() : nanosToNext();
                if (!tasks.isEmpty() && nanos <= 0) {
                    return begin();
                }
                if (tasks.isEmpty() && (closed || nanos <= 0)) {
                    idle--;
                    threads--;
                    return null;
                }
                monitor.await(nanos);
            }
        } finally {
            monitor.unlock();
        }
    }

    private Run begin() {
        Run run = new Run(tasks.element(), nanoTime.getAsLong()); // first, since it may fail
        tasks.remove();
        latest[(int) (runs++ % latest.length)] = run;
        if (--idle == 0 && !tasks.isEmpty()) { // another thread has to detect whether this task blocks
            boolean unused = start();
        }
        return run;
    }

    /** The time until one of the latest tasks has ended or counts as blocked. */
    private long nanosToNext() {
        long now = nanoTime.getAsLong();
        return Arrays.stream(latest)
                .mapToLong(run -> run == null || run.ended ? 0 : run.since + BLOCKED_AFTER - now)
                .min()
                .orElse(0);
    }
}
