package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** Auto-configuration for the metrics of semaphores, where the application has a {@link MeterRegistry}. */
@AutoConfiguration(
        after = SemaphoreAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration"
        })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean(
        value = SemaphoreEngine.class,
        search = SearchStrategy.CURRENT) // that of a parent context is measured there
@ConditionalOnSingleCandidate(MeterRegistry.class)
@ConditionalOnBooleanProperty(name = "semaphore.metrics.enabled", matchIfMissing = true)
@EnableConfigurationProperties(SemaphoreMetricsAutoConfiguration.Properties.class)
@Import(InstrumentedPermitManager.Instrumentation.class)
public final class SemaphoreMetricsAutoConfiguration {

    @Bean
    SemaphoreMetrics semaphoreMetrics(MeterRegistry registry, ConfiguredNames names) {
        return new SemaphoreMetrics(registry, names);
    }

    @Bean
    PermitSnapshots semaphorePermitSnapshots(
            SemaphoreAdmin admin,
            ConfiguredNames names,
            Properties metrics,
            SemaphoreEngine engine,
            SemaphoreSettings settings) {
        double max = settings.get(SemaphoreSettings.MAX_PATTERN_SEMAPHORES);
        return new PermitSnapshots(
                admin,
                names,
                metrics.refreshInterval(),
                engine::every,
                System::nanoTime,
                () -> engine.patternSemaphores() / max);
    }

    /**
     * How semaphores are measured.
     *
     * @param enabled Whether to publish meters of semaphores, if the application has a MeterRegistry.
     * @param refreshInterval Time between two readings of capacities and held permits from the database while gauges are scraped, at
     *     least 1s.
     */
    @ConfigurationProperties("semaphore.metrics")
    record Properties(
            @DefaultValue("true") boolean enabled,
            @DefaultValue("10s") Duration refreshInterval) {

        Properties {
            if (refreshInterval.compareTo(Duration.ofSeconds(1)) < 0) {
                throw new IllegalArgumentException(
                        "semaphore.metrics.refresh-interval must be at least a second: " + refreshInterval);
            }
        }
    }
}
