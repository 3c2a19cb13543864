package io.dbsemaphore.concurrent;

import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Comparator;
import java.util.HashSet;
import java.util.List;
import java.util.Queue;
import java.util.Set;
import java.util.concurrent.Executor;
import java.util.concurrent.TimeUnit;
import java.util.function.Consumer;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/**
 * Runs a limited number of tasks at a time in a shared pool. Further tasks wait without a thread.
 *
 * <p>With a timer, tasks do not wait long for others that block: while tasks wait, up to two threads are added after each {@link #PATIENCE}
 * for each task that has run for that long. These threads end when no task waits.
 */
public final class LimitedExecutor implements Executor {

    /** Longer than any non-blocking task takes, and too short for a caller to notice. */
    public static final Duration PATIENCE = Duration.ofMillis(100);

    private static final Logger log = LoggerFactory.getLogger(LimitedExecutor.class);

    private static final long WARN_EVERY = TimeUnit.MINUTES.toNanos(1);

    private final Executor pool;
    private final int max;
    private final String tasks;
    private final @Nullable Consumer<Runnable> timer;
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private final Set<Worker> workers = new HashSet<>();
    private boolean timed;
    private long warnedAt = System.nanoTime() - WARN_EVERY;

    /** Creates an executor whose tasks wait for those that block. */
    public LimitedExecutor(Executor pool, int max) {
        this(pool, max, "tasks", null);
    }

    /**
     * Creates an executor.
     *
     * @param tasks the name of the tasks in the warning that many block
     * @param timer runs a task after {@link #PATIENCE}, on a thread that must not block
     */
    public LimitedExecutor(Executor pool, int max, String tasks, @Nullable Consumer<Runnable> timer) {
        this.pool = pool;
        this.max = max;
        this.tasks = tasks;
        this.timer = timer;
    }

    @Override
    public void execute(Runnable task) {
        Worker worker = new Worker(null);
        synchronized (this) {
            waiting.add(task);
            if (workers.size() >= max) {
                relieveLater();
                return;
            }
            workers.add(worker);
        }
        pool.execute(worker);
    }

    private synchronized void relieveLater() {
        if (timer != null && !timed && !waiting.isEmpty()) {
            timed = true;
            timer.accept(() -> relieve(PATIENCE));
        }
    }

    /** Adds threads for the tasks that wait, if others have run for this time. */
    public void relieve(Duration patience) {
        List<Worker> added;
        List<Worker> blocked;
        long now = System.nanoTime();
        boolean warns;
        synchronized (this) {
            blocked = workers.stream()
                    .filter(worker -> worker.thread != null && now - worker.since >= patience.toNanos())
                    .sorted(Comparator.comparingLong(worker -> worker.since - now))
                    .toList();
            int places = Math.max(0, max + 2 * blocked.size() - workers.size());
            added = Stream.generate(() -> new Worker(Thread.currentThread()))
                    .limit(Math.min(places, waiting.size()))
                    .toList();
            workers.addAll(added);
            warns = !added.isEmpty() && !blocked.isEmpty() && now - warnedAt >= WARN_EVERY;
            warnedAt = warns ? now : warnedAt;
            timed = false;
            relieveLater();
        }
        if (warns) {
            blocked.get(0).warn(blocked.size(), now);
        }
        added.forEach(pool::execute);
    }

    /** A thread of the pool while it runs tasks. */
    private final class Worker implements Runnable {

        /** The timer's thread, on which the pool runs a worker if it has no thread for it; null without a timer. */
        private final @Nullable Thread creator;

        private volatile @Nullable Thread thread;
        private volatile long since;

        Worker(@Nullable Thread creator) {
            this.creator = creator;
        }

        @Override
        public void run() {
            Thread current = Thread.currentThread();
            Runnable task = next(current != creator);
            thread = current;
            while (task != null) {
                try {
                    task.run();
                } catch (Throwable failure) {
                    UnexpectedErrors.survive(log, "A task for the application", failure);
                }
                task = next(true);
                if (task != null) {
                    Thread.interrupted(); // as a pool does between two tasks
                }
            }
        }

        private @Nullable Runnable next(boolean mayRun) {
            synchronized (LimitedExecutor.this) {
                since = System.nanoTime();
                Runnable next = mayRun ? waiting.poll() : null;
                if (next == null) {
                    workers.remove(this);
                }
                return next;
            }
        }

        void warn(int blocked, long now) {
            Thread longest = thread;
            Throwable where = new Throwable(longest + " is here");
            if (longest != null) {
                where.setStackTrace(Stream.of(longest.getStackTrace())
                        .filter(frame -> !"java.base".equals(frame.getModuleName()))
                        .toArray(StackTraceElement[]::new));
            }
            log.warn(
                    "{} {} block their threads, the first for {} ms. Others run on additional threads. Run long work on"
                            + " your own executor, for example with thenAcceptAsync",
                    blocked,
                    tasks,
                    TimeUnit.NANOSECONDS.toMillis(now - since),
                    where);
        }
    }
}
