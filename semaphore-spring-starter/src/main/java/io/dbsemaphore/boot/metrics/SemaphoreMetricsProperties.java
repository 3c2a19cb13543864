package io.dbsemaphore.boot.metrics;

import java.time.Duration;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;

/**
 * How semaphores are measured.
 *
 * @param enabled Whether they are measured, where the application has a MeterRegistry.
 * @param refreshInterval From one reading of the capacities and held permits from the database to the next, as long as
 *     somebody asks for them, at least 1s.
 */
@ConfigurationProperties("semaphore.metrics")
record SemaphoreMetricsProperties(
        @DefaultValue("true") boolean enabled,
        @DefaultValue("10s") Duration refreshInterval) {

    SemaphoreMetricsProperties {
        if (refreshInterval.compareTo(Duration.ofSeconds(1)) < 0) {
            throw new IllegalArgumentException(
                    "semaphore.metrics.refresh-interval must be at least a second: " + refreshInterval);
        }
    }
}
