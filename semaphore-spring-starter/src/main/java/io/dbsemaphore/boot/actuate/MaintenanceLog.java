package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.SemaphoreListener;
import io.dbsemaphore.SemaphoreMaintenance.MaintenanceTask;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** Records when this instance last completed each maintenance task, by its monotonic clock. */
final class MaintenanceLog implements SemaphoreListener {

    private final LongSupplier clock;
    private final long begun;
    private final Map<MaintenanceTask, Long> doneAt = new ConcurrentHashMap<>();

    MaintenanceLog(LongSupplier clock) {
        this.clock = clock;
        this.begun = clock.getAsLong();
    }

    @Override
    public void maintained(MaintenanceTask task, int done) {
        doneAt.put(task, clock.getAsLong());
    }

    /** The time since the last completion of a task, or since this instance was started if there was none. */
    Duration since(MaintenanceTask task) {
        return Duration.ofNanos(clock.getAsLong() - doneAt.getOrDefault(task, begun));
    }
}
