package io.dbsemaphore.boot.integration;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import io.dbsemaphore.boot.autoconfigure.SemaphoreSettingsCustomizer;
import io.dbsemaphore.boot.mutex.MutexRequests;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import java.time.Duration;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBean;
import org.springframework.boot.autoconfigure.condition.ConditionalOnBooleanProperty;
import org.springframework.boot.autoconfigure.condition.ConditionalOnClass;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.ConfigurationProperties;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.context.properties.bind.DefaultValue;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Lazy;
import org.springframework.integration.support.locks.DistributedLock;
import org.springframework.integration.support.locks.LockRegistry;

/** Auto-configuration for a {@link LockRegistry} of Spring Integration whose locks are semaphores. */
@AutoConfiguration(
        after = SemaphoreAutoConfiguration.class,
        beforeName = "org.springframework.boot.integration.autoconfigure.IntegrationAutoConfiguration")
@ConditionalOnClass(DistributedLock.class)
@ConditionalOnBooleanProperty("semaphore.adapters.spring-integration.enabled")
@ConditionalOnBean(SemaphoreEngine.class)
@EnableConfigurationProperties(LockRegistryAutoConfiguration.Properties.class)
public final class LockRegistryAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(LockRegistry.class)
    SemaphoreLockRegistry semaphoreLockRegistry(
            SemaphoreOperations semaphores, SemaphoreAdmin admin, Properties properties) {
        return new SemaphoreLockRegistry(semaphores, admin, properties.toRequests(), properties.cacheCapacity());
    }

    @Bean
    @ConditionalOnBean(SemaphoreLockRegistry.class)
    SemaphoreSettingsCustomizer semaphoreLockRegistrySettings(Properties properties) {
        return settings -> {
            Duration maxTtl = settings.get(SemaphoreSettings.MAX_TTL);
            if (properties.ttl().compareTo(maxTtl) > 0) {
                throw new IllegalArgumentException(
                        "semaphore.adapters.spring-integration.ttl must be at most %s (semaphore.max-ttl), but is %s: each lock without a TTL of its own would be refused"
                                .formatted(maxTtl, properties.ttl()));
            }
            return properties.toRequests().declareIn(settings);
        };
    }

    /** Warns that the application's registry takes precedence. */
    @Bean
    @Lazy(false)
    @ConditionalOnMissingBean(SemaphoreLockRegistry.class)
    SmartInitializingSingleton semaphoreLockRegistryWithoutEffect() {
        return () -> LoggerFactory.getLogger(LockRegistryAutoConfiguration.class)
                .warn("semaphore.adapters.spring-integration.enabled=true has no effect: the application has its own"
                        + " LockRegistry, whose locks are no semaphores. Remove that bean, or the property");
    }

    /**
     * The locks of Spring Integration.
     *
     * @param enabled Whether to add a LockRegistry bean for Spring Integration, unless the application has one.
     * @param prefix Prefix of the semaphores' names, up to 119 characters. The key of the lock follows.
     * @param ttl Time to live of a lock that is neither released nor renewed, from 1s to semaphore.max-ttl.
     * @param keepAlive Whether this instance renews its locks until they are released. Otherwise they expire during work that
     *     takes longer than their time to live.
     * @param cacheCapacity How many locks this instance remembers. When it forgets a lock, it deletes the semaphore unless that is in
     *     use.
     */
    @ConfigurationProperties("semaphore.adapters.spring-integration")
    record Properties(
            @DefaultValue("false") boolean enabled,
            @DefaultValue("integration:") String prefix,
            @DefaultValue("10s") Duration ttl,
            @DefaultValue("false") boolean keepAlive,
            @DefaultValue("256") int cacheCapacity) {

        Properties {
            if (cacheCapacity < 1) {
                throw new IllegalArgumentException(
                        "semaphore.adapters.spring-integration.cache-capacity must be at least 1: " + cacheCapacity);
            }
            if (ttl.compareTo(AcquireRequest.MIN_TTL) < 0) {
                throw new IllegalArgumentException("semaphore.adapters.spring-integration.ttl must be at least %s: %s"
                        .formatted(AcquireRequest.MIN_TTL, ttl));
            }
            new MutexRequests(prefix, ttl, keepAlive); // checks the prefix
        }

        MutexRequests toRequests() {
            return new MutexRequests(prefix, ttl, keepAlive);
        }
    }
}
