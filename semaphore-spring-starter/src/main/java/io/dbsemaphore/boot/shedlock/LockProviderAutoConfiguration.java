package io.dbsemaphore.boot.shedlock;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.boot.autoconfigure.MutexPattern;
import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import io.dbsemaphore.engine.SemaphoreEngine;
import net.javacrumbs.shedlock.core.LockProvider;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;

/** Auto-configuration for a {@link LockProvider} of ShedLock whose locks are semaphores. */
@AutoConfiguration(after = SemaphoreAutoConfiguration.class)
@ConditionalOnClass(LockProvider.class)
@ConditionalOnBooleanProperty("semaphore.adapters.shedlock.enabled")
@ConditionalOnBean(SemaphoreEngine.class)
@ConditionalOnMissingBean(LockProvider.class)
@EnableConfigurationProperties(LockProviderProperties.class)
public final class LockProviderAutoConfiguration {

    @Bean
    SemaphoreLockProvider semaphoreLockProvider(SemaphoreOperations semaphores, LockProviderProperties properties) {
        return new SemaphoreLockProvider(semaphores, properties.prefix());
    }

    @Bean
    MutexPattern semaphoreLockProviderPattern(LockProviderProperties properties) {
        return new MutexPattern(
                SemaphoreLockProvider.requests(properties.prefix()).pattern());
    }
}
