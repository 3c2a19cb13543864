package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.MaintenanceTask;
import io.dbsemaphore.boot.autoconfigure.SemaphoreProperties;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.engine.SemaphoreTablesMissingException;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.Optional;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * UP when the tables can be read, and the maintenance of this instance, where it takes part, has come to its end within
 * three of its intervals.
 */
final class SemaphoreHealthIndicator extends AbstractHealthIndicator {

    private static final int INTERVALS = 3;
    /** A short interval is no reason to expect that a slow database keeps it. */
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

    SemaphoreHealthIndicator(SemaphoreEngine engine, MaintenanceLog log, SemaphoreProperties.Maintenance maintenance) {
        super("The semaphores are not healthy");
        this.engine = engine;
        this.log = log;
        if (maintenance.enabled()) {
            tasks.put(
                    MaintenanceTask.ORPHAN_RELEASE,
                    new Task(maintenance.orphanReleaseInterval(), "release of orphans", "orphan-release-interval"));
            tasks.put(
                    MaintenanceTask.REQUEST_CLEANUP,
                    new Task(maintenance.requestCleanupInterval(), "clean-up of requests", "request-cleanup-interval"));
            tasks.put(
                    MaintenanceTask.HISTORY_CLEANUP,
                    new Task(
                            maintenance.historyCleanupInterval(), "clean-up of the audit", "history-cleanup-interval"));
        }
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        try {
            engine.check();
        } catch (SemaphoreTablesMissingException missing) {
            builder.down(missing)
                    .withDetail(
                            "reason",
                            "The tables of the semaphores are not there. Include db/dbsemaphore/changelog.xml in the"
                                    + " application's changelog, or set semaphore.liquibase.enabled=true");
            return;
        } catch (RuntimeException failure) {
            builder.down(failure)
                    .withDetail(
                            "reason",
                            "The tables of the semaphores cannot be read. Look at the database, the connection pool,"
                                    + " and what its user is granted");
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
                .map(task -> ("The %s has not come to its end on this instance for %s, although"
                                + " semaphore.maintenance.%s is %s. Look for the warning 'The %s failed' in the log, and"
                                + " for what keeps the thread semaphore-maintenance busy")
                        .formatted(
                                task.getValue().what(),
                                Duration.ofSeconds(log.since(task.getKey()).toSeconds()),
                                task.getValue().property(),
                                task.getValue().interval(),
                                task.getValue().what()));
    }
}
