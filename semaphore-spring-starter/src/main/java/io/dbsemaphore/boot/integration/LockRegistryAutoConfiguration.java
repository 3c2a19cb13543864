package io.dbsemaphore.boot.integration;

import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.boot.autoconfigure.MutexPattern;
import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import io.dbsemaphore.engine.SemaphoreEngine;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;

/** Auto-configuration for a {@link LockRegistry} of Spring Integration whose locks are semaphores. */
@AutoConfiguration(
        after = SemaphoreAutoConfiguration.class,
        beforeName = "org.springframework.boot.integration.autoconfigure.IntegrationAutoConfiguration")
@ConditionalOnClass(DistributedLock.class)
@ConditionalOnBooleanProperty("semaphore.adapters.spring-integration.enabled")
@ConditionalOnBean(SemaphoreEngine.class)
@ConditionalOnMissingBean(LockRegistry.class)
@EnableConfigurationProperties(LockRegistryProperties.class)
public final class LockRegistryAutoConfiguration {

    @Bean
    SemaphoreLockRegistry semaphoreLockRegistry(
            SemaphoreOperations semaphores, SemaphoreAdmin admin, LockRegistryProperties properties) {
        return new SemaphoreLockRegistry(semaphores, admin, properties.toRequests(), properties.cacheCapacity());
    }

    @Bean
    MutexPattern semaphoreLockRegistryPattern(LockRegistryProperties properties) {
        return new MutexPattern(properties.toRequests().pattern());
    }
}
