package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.SemaphoreEngine;
import org.springframework.context.SmartLifecycle;

/**
 * Begins the maintenance once the application runs, and ends orderly: after the web server has let its requests finish,
 * before beans such as the connection pool are destroyed.
 */
final class SemaphoreLifecycle implements SmartLifecycle {

    /** Below the phases in which web servers and task executors stop, so that it stops after them. */
    static final int PHASE = SmartLifecycle.DEFAULT_PHASE - 8192;

    private final SemaphoreEngine engine;
    private volatile boolean running;

    SemaphoreLifecycle(SemaphoreEngine engine) {
        this.engine = engine;
    }

    @Override
    public void start() {
        engine.start();
        running = true;
    }

    @Override
    public void stop() {
        engine.shutDown();
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    @Override
    public int getPhase() {
        return PHASE;
    }
}
