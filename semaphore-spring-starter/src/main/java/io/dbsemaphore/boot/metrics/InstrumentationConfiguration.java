package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.boot.autoconfigure.SemaphoreProperties;
import io.dbsemaphore.config.SemaphorePatterns;
import io.dbsemaphore.spi.PermitManagerDecorator;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/** What metrics and observations share: the decorator, and what semaphores are called. */
@Configuration(proxyBeanMethods = false)
final class InstrumentationConfiguration {

    @Bean
    ConfiguredNames semaphoreConfiguredNames(SemaphoreProperties properties, SemaphorePatterns patterns) {
        return new ConfiguredNames(properties, patterns);
    }

    @Bean
    PermitManagerDecorator semaphoreInstrumentation(ObjectProvider<AcquireInstrument> instruments) {
        return manager -> new InstrumentedPermitManager(
                manager, instruments.orderedStream().toList());
    }
}
