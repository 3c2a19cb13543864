package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.admin.SemaphoreMaintenance.MaintenanceTask;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.springframework.context.SmartLifecycle;

/**
 * Records when this instance last completed each maintenance task, by its monotonic clock. It begins anew when the application
 * context is started again after a pause: no task was due meanwhile.
 */
final class MaintenanceLog implements SemaphoreListener, SmartLifecycle {

    private final LongSupplier clock;
    private final Map<MaintenanceTask, Long> doneAt = new ConcurrentHashMap<>();
    private volatile long begun;
    private volatile boolean running;

    MaintenanceLog(LongSupplier clock) {
        this.clock = clock;
        this.begun = clock.getAsLong();
    }

    @Override
    public void maintained(Maintained event) {
        doneAt.put(event.task(), clock.getAsLong());
    }

    /** The time since the last completion of a task, or since this instance was started if there was none. */
    Duration since(MaintenanceTask task) {
        return Duration.ofNanos(clock.getAsLong() - doneAt.getOrDefault(task, begun));
    }

    @Override
    public void start() {
        begun = clock.getAsLong();
        doneAt.clear();
        running = true;
    }

    @Override
    public void stop() {
        running = false;
    }

    @Override
    public boolean isRunning() {
        return running;
    }

    /** Starts before the engine, whose maintenance it records, and stops after it. */
    @Override
    public int getPhase() {
        return 0;
    }
}
