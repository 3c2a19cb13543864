package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.Order;

/** Auto-configuration for the metrics of semaphores, where the application has a {@link MeterRegistry}. */
@AutoConfiguration(
        after = SemaphoreAutoConfiguration.class,
        afterName = {
            "org.springframework.boot.micrometer.metrics.autoconfigure.MetricsAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.CompositeMeterRegistryAutoConfiguration",
            "org.springframework.boot.micrometer.metrics.autoconfigure.export.simple.SimpleMetricsExportAutoConfiguration"
        })
@ConditionalOnClass(MeterRegistry.class)
@ConditionalOnBean({SemaphoreEngine.class, MeterRegistry.class})
@ConditionalOnBooleanProperty(name = "semaphore.metrics.enabled", matchIfMissing = true)
@EnableConfigurationProperties(SemaphoreMetricsProperties.class)
@Import(InstrumentationConfiguration.class)
public final class SemaphoreMetricsAutoConfiguration {

    @Bean
    SemaphoreMetrics semaphoreMetrics(MeterRegistry registry, ConfiguredNames names) {
        return new SemaphoreMetrics(registry, names);
    }

    /** Stops first, so that it is recorded within the observation: registries take exemplars from there. */
    @Bean
    @Order(0)
    AcquireMeters semaphoreAcquireMeters(MeterRegistry registry, ConfiguredNames names) {
        return new AcquireMeters(registry, names);
    }

    @Bean
    PermitSnapshots semaphorePermitSnapshots(
            SemaphoreAdmin admin, ConfiguredNames names, SemaphoreMetricsProperties metrics) {
        return new PermitSnapshots(
                admin, names, metrics.refreshInterval(), new DaemonThreads().named("semaphore-metrics"));
    }

    @Bean
    PermitGauges semaphorePermitGauges(PermitSnapshots snapshots, ConfiguredNames names) {
        return new PermitGauges(snapshots, names);
    }
}
