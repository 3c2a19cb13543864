package io.dbsemaphore.boot.actuate;

import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.health.autoconfigure.contributor.ConditionalOnEnabledHealthIndicator;
import org.springframework.boot.health.contributor.HealthContributor;
import org.springframework.context.annotation.Bean;

/** Auto-configuration for the health indicator {@code semaphore}. */
@AutoConfiguration(after = SemaphoreAutoConfiguration.class)
@ConditionalOnClass({HealthContributor.class, ConditionalOnEnabledHealthIndicator.class})
@ConditionalOnBean(SemaphoreEngine.class)
@ConditionalOnEnabledHealthIndicator("semaphore")
public final class SemaphoreHealthContributorAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(name = {"semaphoreHealthIndicator", "semaphoreHealthContributor"})
    SemaphoreHealthIndicator semaphoreHealthContributor(SemaphoreEngine engine, SemaphoreSettings settings) {
        return new SemaphoreHealthIndicator(engine, settings);
    }
}
