package io.dbsemaphore.boot.metrics;

import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.micrometer.observation.ObservationRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnSingleCandidate;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;

/** Auto-configuration for the observation of acquires, where the application has an {@link ObservationRegistry}. */
@AutoConfiguration(
        after = SemaphoreAutoConfiguration.class,
        afterName = "org.springframework.boot.micrometer.observation.autoconfigure.ObservationAutoConfiguration")
@ConditionalOnClass(ObservationRegistry.class)
@ConditionalOnBean(
        value = SemaphoreEngine.class,
        search = SearchStrategy.CURRENT) // that of a parent context is observed there
@ConditionalOnSingleCandidate(ObservationRegistry.class)
@Import(InstrumentedPermitManager.Instrumentation.class)
public final class SemaphoreObservationAutoConfiguration {

    @Bean
    AcquireObservations semaphoreAcquireObservations(ObservationRegistry registry) {
        return new AcquireObservations(registry);
    }
}
