package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.boot.autoconfigure.PermitManagerDecorator;
import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import io.dbsemaphore.boot.autoconfigure.SemaphoreProperties;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.micrometer.core.instrument.MeterRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

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
public final class SemaphoreMetricsAutoConfiguration {

    @Bean
    SemaphoreMetrics semaphoreMetrics(MeterRegistry registry, SemaphoreProperties properties) {
        return new SemaphoreMetrics(registry, new ConfiguredNames(properties));
    }

    @Bean
    PermitManagerDecorator semaphoreMetricsDecorator(MeterRegistry registry, SemaphoreProperties properties) {
        AcquireMeters meters = new AcquireMeters(registry, new ConfiguredNames(properties));
        return manager -> new MeteredPermitManager(manager, meters);
    }

    @Bean
    PermitSnapshots semaphorePermitSnapshots(
            SemaphoreAdmin admin, SemaphoreProperties properties, SemaphoreMetricsProperties metrics) {
        return new PermitSnapshots(admin, new ConfiguredNames(properties), metrics.refreshInterval());
    }

    @Bean
    PermitGauges semaphorePermitGauges(PermitSnapshots snapshots, SemaphoreProperties properties) {
        return new PermitGauges(snapshots, new ConfiguredNames(properties));
    }
}
