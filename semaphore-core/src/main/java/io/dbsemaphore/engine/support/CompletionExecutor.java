package io.dbsemaphore.engine.support;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Monitor;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.Queue;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs the completions of asynchronous acquires, which are mostly code of the application, apart from the worker threads. A task
 * that blocks does not delay the others: after {@value #BLOCKED_AFTER_MILLIS} ms it counts as blocked, and another thread runs
 * the next one. Short tasks share as many threads as there are processors. The threads end when idle.
 */
public final class CompletionExecutor implements Executor, AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(CompletionExecutor.class);

    private static final int BLOCKED_AFTER_MILLIS = 10;
    private static final long BLOCKED_AFTER = TimeUnit.MILLISECONDS.toNanos(BLOCKED_AFTER_MILLIS);
    private static final Duration END_AFTER = Duration.ofSeconds(2);

    private final DaemonThreads factory;
    private final Duration endAfter;
    private final Monitor monitor = new Monitor();
    private final Queue<Runnable> tasks = new ArrayDeque<>();
    private final @Nullable Run[] latest =
            new Run[Math.max(2, Runtime.getRuntime().availableProcessors())];
    private long runs;
    private int threads;
    private int idle;
    private volatile boolean closed;

    private static final class Run {

        private final Runnable task;
        private final long since = System.nanoTime();
        private boolean ended;

        Run(Runnable task) {
            this.task = task;
        }
    }

    public CompletionExecutor(DaemonThreads factory) {
        this(factory, END_AFTER);
    }

    /**
     * Creates an executor.
     *
     * @param endAfter how long a thread stays idle before it ends
     */
    CompletionExecutor(DaemonThreads factory, Duration endAfter) {
        this.factory = factory;
        this.endAfter = endAfter;
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
            threads++;
            idle++;
            return true;
        } catch (Error noThread) { // the existing threads run the tasks
            log.warn("No further thread can be started for the completions of asynchronous acquires", noThread);
            return false;
        }
    }

    private void work() {
        for (Run run = next(null); run != null; run = next(run)) {
            try {
                run.task.run();
            } catch (RuntimeException | Error failure) {
                log.error("The completion of an asynchronous acquire failed unexpectedly", failure);
            }
            boolean unused = Thread.interrupted(); // which the application may have set
        }
    }

    /** The next task for a thread that has done this one; null when the thread is to end. */
    private @Nullable Run next(@Nullable Run done) {
        monitor.lock();
        try {
            if (done != null) {
                done.ended = true;
                idle++;
            }
            long endAt = System.nanoTime() + endAfter.toNanos();
            while (true) {
                long nanos = tasks.isEmpty() ? endAt - System.nanoTime() : nanosToNext();
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
        Run run = new Run(tasks.remove());
        latest[(int) (runs++ % latest.length)] = run;
        if (--idle == 0 && !tasks.isEmpty()) { // another thread has to detect whether this task blocks
            boolean unused = start();
        }
        return run;
    }

    /** The time until one of the latest tasks has ended or counts as blocked. */
    private long nanosToNext() {
        long now = System.nanoTime();
        return Arrays.stream(latest)
                .mapToLong(run -> run == null || run.ended ? 0 : run.since + BLOCKED_AFTER - now)
                .min()
                .orElse(0);
    }
}
