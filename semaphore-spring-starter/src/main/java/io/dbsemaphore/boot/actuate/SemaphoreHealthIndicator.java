package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.SemaphoreException;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import org.springframework.boot.health.contributor.AbstractHealthIndicator;
import org.springframework.boot.health.contributor.Health;

/**
 * Reports UP if the tables can be read and written and no task of the maintenance is {@linkplain SemaphoreEngine#overdueMaintenance
 * overdue} on this instance. A detail says so if patterns have created nearly as many semaphores as they may; the status stays UP.
 */
final class SemaphoreHealthIndicator extends AbstractHealthIndicator {

    private static final int NEAR_LIMIT_PERCENT = 80;

    private final SemaphoreEngine engine;
    private final boolean maintains;
    private final long maxOfPatterns;

    SemaphoreHealthIndicator(SemaphoreEngine engine, SemaphoreSettings settings) {
        super("The semaphores are not healthy");
        this.engine = engine;
        this.maintains = settings.get(MaintenanceSettings.ENABLED);
        this.maxOfPatterns = settings.get(SemaphoreSettings.MAX_PATTERN_SEMAPHORES);
    }

    @Override
    protected void doHealthCheck(Health.Builder builder) {
        try {
            engine.check();
        } catch (RuntimeException failure) {
            builder.down(failure)
                    .withDetail(
                            "reason",
                            failure instanceof SemaphoreException
                                    ? String.valueOf(failure.getMessage())
                                    : "The tables of the semaphores cannot be read. Check the database, the connection pool,"
                                            + " and the privileges of its user");
            return;
        }
        engine.overdueMaintenance().ifPresentOrElse(reason -> builder.down().withDetail("reason", reason), builder::up);
        builder.withDetail("maintenance", maintains ? "scheduled" : "not by this instance");
        long ofPatterns = engine.patternSemaphores();
        if (ofPatterns * 100 >= maxOfPatterns * NEAR_LIMIT_PERCENT) {
            builder.withDetail(
                    "patterns",
                    "%d of %d semaphores (semaphore.max-pattern-semaphores)".formatted(ofPatterns, maxOfPatterns));
        }
    }
}
