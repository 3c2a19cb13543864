package io.dbsemaphore.boot.integration;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import io.dbsemaphore.boot.mutex.MutexPattern;
import io.dbsemaphore.engine.SemaphoreEngine;
import org.slf4j.LoggerFactory;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;

/** Auto-configuration for a {@link LockRegistry} of Spring Integration whose locks are semaphores. */
@AutoConfiguration(
        after = SemaphoreAutoConfiguration.class,
        beforeName = "org.springframework.boot.integration.autoconfigure.IntegrationAutoConfiguration")
@ConditionalOnClass(DistributedLock.class)
@ConditionalOnBooleanProperty("semaphore.adapters.spring-integration.enabled")
@ConditionalOnBean(SemaphoreEngine.class)
@EnableConfigurationProperties(LockRegistryProperties.class)
public final class LockRegistryAutoConfiguration {

    /** Tells why the property has no effect. Comes first: the adapter's own bean must not count. */
    @Configuration(proxyBeanMethods = false)
    @Order(0)
    @ConditionalOnBean(LockRegistry.class)
    static class OwnBeanConfiguration {

        OwnBeanConfiguration() {
            LoggerFactory.getLogger(LockRegistryAutoConfiguration.class)
                    .warn(
                            "semaphore.adapters.spring-integration.enabled=true has no effect, since the application defines a LockRegistry of its"
                                    + " own, whose locks are no semaphores. Remove that bean, or the property");
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Order(1)
    @ConditionalOnMissingBean(LockRegistry.class)
    static class AdapterConfiguration {

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
}
