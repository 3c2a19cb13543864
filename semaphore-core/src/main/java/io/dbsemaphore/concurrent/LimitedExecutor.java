package io.dbsemaphore.concurrent;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs at most a number of tasks at a time in a pool that others use, too. Further tasks wait without a thread. */
public final class LimitedExecutor implements Executor {

    private static final Logger log = LoggerFactory.getLogger(LimitedExecutor.class);

    private final Executor pool;
    private final Queue<Runnable> waiting = new ArrayDeque<>();
    private int free;

    public LimitedExecutor(Executor pool, int max) {
        this.pool = pool;
        this.free = max;
    }

    @Override
    public void execute(Runnable task) {
        synchronized (this) {
            if (free == 0) {
                waiting.add(task);
                return;
            }
            free--;
        }
        pool.execute(() -> runAll(task));
    }

    private void runAll(Runnable first) {
        Runnable task = first;
        while (task != null) {
            try {
                task.run();
            } catch (Throwable failure) {
                UnexpectedErrors.survive(log, "A task for the application", failure);
            }
            task = next();
            boolean unused = task != null && Thread.interrupted(); // as between the tasks of a pool
        }
    }

    private synchronized @Nullable Runnable next() {
        Runnable next = waiting.poll();
        free += next == null ? 1 : 0;
        return next;
    }
}
