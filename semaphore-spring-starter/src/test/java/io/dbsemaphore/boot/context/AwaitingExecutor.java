package io.dbsemaphore.boot.context;

import java.util.concurrent.LinkedBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;

/** A plain executor of a host, which waits for its jobs when it is closed. */
final class AwaitingExecutor extends ThreadPoolExecutor implements AutoCloseable {

    AwaitingExecutor() {
        super(1, 1, 1, TimeUnit.SECONDS, new LinkedBlockingQueue<>());
    }

    @Override
    public void close() {
        shutdown();
        try {
            boolean unused = awaitTermination(20, TimeUnit.SECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }
}
