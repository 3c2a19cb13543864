package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.admin.SemaphoreMaintenance.MaintenanceTask;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.config.Setting;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.engine.SemaphoreTablesMissingException;
import io.dbsemaphore.spi.SemaphoreListener;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.ConcurrentHashMap;
import java.util.function.LongSupplier;
import org.springframework.beans.factory.HierarchicalBeanFactory;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;
import org.springframework.context.SmartLifecycle;

/**
 * Reports UP if the tables can be read and, on instances that run the maintenance, each task was completed within three
 * of its intervals, by the monotonic clock of this instance. An engine that the starter has not created in this context does not tell of
 * its maintenance, which is then not checked. The time begins anew when the application context is started again after a
 * pause: no task was due meanwhile.
 */
final class SemaphoreHealthIndicator extends AbstractHealthIndicator implements SemaphoreListener, SmartLifecycle {

    private static final int INTERVALS = 3;
    /** The lower bound of the time allowed, since a slow database may not keep up with a short interval. */
    private static final Duration AT_LEAST = Duration.ofMinutes(1);

    /** The bean that passes the listeners of this context to the engine of the starter. */
    private static final String LISTENERS = "semaphoreListenerBeans";

    private static final List<Task> TASKS = List.of(
            new Task(MaintenanceTask.ORPHAN_RELEASE, "release of orphans", MaintenanceSettings.ORPHAN_RELEASE_INTERVAL),
            new Task(
                    MaintenanceTask.REQUEST_CLEANUP,
                    "clean-up of requests",
                    MaintenanceSettings.REQUEST_CLEANUP_INTERVAL),
            new Task(
                    MaintenanceTask.HISTORY_CLEANUP,
                    "clean-up of the audit",
                    MaintenanceSettings.HISTORY_CLEANUP_INTERVAL));

    private final SemaphoreEngine engine;
    private final SemaphoreSettings settings;
    private final boolean hearsOfMaintenance;
    private final LongSupplier clock;
    private final Map<MaintenanceTask, Long> doneAt = new ConcurrentHashMap<>();
    private volatile long begun;
    private volatile boolean running;

    private record Task(MaintenanceTask task, String what, Setting<Duration> interval) {}

    SemaphoreHealthIndicator(
            SemaphoreEngine engine, SemaphoreSettings settings, HierarchicalBeanFactory beans, LongSupplier clock) {
        super("The semaphores are not healthy");
        this.engine = engine;
        this.settings = settings;
        this.hearsOfMaintenance = beans.containsLocalBean(LISTENERS);
        this.clock = clock;
        this.begun = clock.getAsLong();
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        try {
            engine.check();
        } catch (RuntimeException failure) {
            builder.down(failure)
                    .withDetail(
                            "reason",
                            failure instanceof SemaphoreTablesMissingException
                                    ? "The tables of the semaphores do not exist. Include db/dbsemaphore/changelog.xml in the"
                                            + " application's changelog, or set semaphore.liquibase.enabled=true"
                                    : "The tables of the semaphores cannot be read. Check the database, the connection pool,"
                                            + " and the privileges of its user");
            return;
        }
        boolean maintains = settings.get(MaintenanceSettings.ENABLED);
        Optional<String> overdue = maintains && hearsOfMaintenance
                ? TASKS.stream().filter(this::isOverdue).findFirst().map(this::describe)
                : Optional.empty();
        overdue.ifPresentOrElse(reason -> builder.down().withDetail("reason", reason), builder::up);
        builder.withDetail("maintenance", maintains ? "scheduled" : "not by this instance");
    }

    private boolean isOverdue(Task task) {
        Duration intervals = settings.get(task.interval()).multipliedBy(INTERVALS);
        Duration allowed = intervals.compareTo(AT_LEAST) < 0 ? AT_LEAST : intervals;
        return sinceLast(task.task()).compareTo(allowed) > 0;
    }

    private String describe(Task task) {
        return ("The %s has not completed on this instance for %s, although %s is %s."
                        + " Look for the warning 'The %1$s failed' in the log, and find out what blocks the threads"
                        + " semaphore-application-N")
                .formatted(
                        task.what(),
                        Duration.ofSeconds(sinceLast(task.task()).toSeconds()),
                        task.interval().property(),
                        settings.get(task.interval()));
    }

    @Override
    public void maintained(Maintained event) {
        doneAt.put(event.task(), clock.getAsLong());
    }

    /** The time since the last completion of a task, or since this instance was started if there was none. */
    private Duration sinceLast(MaintenanceTask task) {
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
