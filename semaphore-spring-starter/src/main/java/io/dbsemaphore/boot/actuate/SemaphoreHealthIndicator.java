package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.admin.SemaphoreMaintenance.MaintenanceTask;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.config.Setting;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.engine.SemaphoreTablesMissingException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Reports UP if the tables can be read and, on instances that run the maintenance, each task was completed within three
 * of its intervals.
 */
final class SemaphoreHealthIndicator extends AbstractHealthIndicator {

    private static final int INTERVALS = 3;
    /** The lower bound of the time allowed, since a slow database may not keep up with a short interval. */
    private static final Duration AT_LEAST = Duration.ofMinutes(1);

    private final SemaphoreEngine engine;
    private final MaintenanceLog log;
    private final Map<MaintenanceTask, Task> tasks = new LinkedHashMap<>();

    private record Task(Duration interval, String what, String property) {

        Duration mayTake() {
            Duration intervals = interval.multipliedBy(INTERVALS);
            return intervals.compareTo(AT_LEAST) < 0 ? AT_LEAST : intervals;
        }
    }

    SemaphoreHealthIndicator(SemaphoreEngine engine, MaintenanceLog log, SemaphoreSettings settings) {
        super("The semaphores are not healthy");
        this.engine = engine;
        this.log = log;
        if (settings.get(MaintenanceSettings.ENABLED)) {
            put(
                    settings,
                    MaintenanceTask.ORPHAN_RELEASE,
                    "release of orphans",
                    MaintenanceSettings.ORPHAN_RELEASE_INTERVAL);
            put(
                    settings,
                    MaintenanceTask.REQUEST_CLEANUP,
                    "clean-up of requests",
                    MaintenanceSettings.REQUEST_CLEANUP_INTERVAL);
            put(
                    settings,
                    MaintenanceTask.HISTORY_CLEANUP,
                    "clean-up of the audit",
                    MaintenanceSettings.HISTORY_CLEANUP_INTERVAL);
        }
    }

    private void put(SemaphoreSettings settings, MaintenanceTask task, String what, Setting<Duration> interval) {
        tasks.put(task, new Task(settings.get(interval), what, interval.property()));
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        try {
            engine.check();
        } catch (SemaphoreTablesMissingException missing) {
            builder.down(missing)
                    .withDetail(
                            "reason",
                            "The tables of the semaphores do not exist. Include db/dbsemaphore/changelog.xml in the"
                                    + " application's changelog, or set semaphore.liquibase.enabled=true");
            return;
        } catch (RuntimeException failure) {
            builder.down(failure)
                    .withDetail(
                            "reason",
                            "The tables of the semaphores cannot be read. Check the database, the connection pool,"
                                    + " and the privileges of its user");
            return;
        }
        Optional<String> overdue = overdue();
        if (overdue.isPresent()) {
            builder.down().withDetail("reason", overdue.get());
        } else {
            builder.up();
        }
        builder.withDetail("maintenance", tasks.isEmpty() ? "not by this instance" : "scheduled");
    }

    private Optional<String> overdue() {
        return tasks.entrySet().stream()
                .filter(task ->
                        log.since(task.getKey()).compareTo(task.getValue().mayTake()) > 0)
                .findFirst()
                .map(task -> ("The %s has not completed on this instance for %s, although %s is %s."
                                + " Look for the warning 'The %s failed' in the log, and for what blocks the thread"
                                + " semaphore-maintenance")
                        .formatted(
                                task.getValue().what(),
                                Duration.ofSeconds(log.since(task.getKey()).toSeconds()),
                                task.getValue().property(),
                                task.getValue().interval(),
                                task.getValue().what()));
    }
}
