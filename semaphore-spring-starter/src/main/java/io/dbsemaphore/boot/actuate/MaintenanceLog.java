package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.MaintenanceTask;
import io.dbsemaphore.SemaphoreListener;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;

/** When this instance was last done with each task of the maintenance, on its monotonic clock. */
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

    /** How long ago that was; as long as this instance runs where it was never. */
    Duration since(MaintenanceTask task) {
        return Duration.ofNanos(clock.getAsLong() - doneAt.getOrDefault(task, begun));
    }
}
