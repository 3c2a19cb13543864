package io.dbsemaphore.concurrent;

import java.util.ArrayDeque;
import java.util.Queue;
import java.util.concurrent.Executor;

/** Runs at most a number of tasks at a time in a pool that others use, too. Further tasks wait without a thread. */
public final class LimitedExecutor implements Executor {

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
        begin(task);
    }

    private void begin(Runnable task) {
        pool.execute(() -> {
            try {
                task.run();
            } finally {
                beginNext();
            }
        });
    }

    private void beginNext() {
        Runnable next;
        synchronized (this) {
            next = waiting.poll();
            free += next == null ? 1 : 0;
        }
        if (next != null) {
            begin(next);
        }
    }
}
