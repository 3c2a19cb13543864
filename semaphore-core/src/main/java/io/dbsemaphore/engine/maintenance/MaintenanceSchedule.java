package io.dbsemaphore.engine.maintenance;

import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphoreSettings;
import java.time.Duration;
import java.util.concurrent.ScheduledFuture;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.function.IntSupplier;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;

/** Runs the maintenance periodically, on one thread. The first runs are spread, for instances that start at the same time. */
public final class MaintenanceSchedule implements AutoCloseable {

    private static final Logger log = LoggerFactory.getLogger(MaintenanceSchedule.class);

    private static final Duration FIRST_WITHIN = Duration.ofMinutes(5);

    private final ScheduledThreadPoolExecutor thread = new DaemonThreads().scheduler("semaphore-maintenance");

    public MaintenanceSchedule(SemaphoreMaintenance maintenance, SemaphoreSettings settings) {
        if (settings.get(MaintenanceSettings.ENABLED)) {
            every(
                    settings.get(MaintenanceSettings.ORPHAN_RELEASE_INTERVAL),
                    "release of orphans",
                    maintenance::releaseOrphans);
            every(
                    settings.get(MaintenanceSettings.REQUEST_CLEANUP_INTERVAL),
                    "clean-up of requests",
                    maintenance::deleteReleasedRequests);
            every(
                    settings.get(MaintenanceSettings.HISTORY_CLEANUP_INTERVAL),
                    "clean-up of the audit",
                    maintenance::deleteCapacityHistory);
        }
    }

    @Override
    public void close() {
        thread.shutdownNow();
    }

    private void every(Duration interval, String name, IntSupplier task) {
        long millis = interval.toMillis();
        // soon, so that it runs in instances that are often restarted, too; at random, so that not all begin together
        long first = ThreadLocalRandom.current().nextLong(Math.min(millis, FIRST_WITHIN.toMillis()) + 1);
        ScheduledFuture<?> unused =
                thread.scheduleWithFixedDelay(() -> run(name, task), first, millis, TimeUnit.MILLISECONDS);
    }

    private static void run(String name, IntSupplier task) {
        try {
            int done = task.getAsInt();
            log.debug("The {} is done: {}", name, done);
        } catch (RuntimeException | Error failure) { // an exception would end the schedule
            log.warn("The {} failed; it is tried again at its next time", name, failure);
        }
    }
}
