package io.dbsemaphore.boot.shedlock;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import io.dbsemaphore.boot.autoconfigure.SemaphoreSettingsCustomizer;
import io.dbsemaphore.engine.SemaphoreEngine;
import net.javacrumbs.shedlock.core.LockProvider;
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

/** Auto-configuration for a {@link LockProvider} of ShedLock whose locks are semaphores. */
@AutoConfiguration(after = SemaphoreAutoConfiguration.class)
@ConditionalOnClass(LockProvider.class)
@ConditionalOnBooleanProperty("semaphore.adapters.shedlock.enabled")
@ConditionalOnBean(SemaphoreEngine.class)
@EnableConfigurationProperties(LockProviderAutoConfiguration.Properties.class)
public final class LockProviderAutoConfiguration {

    @Bean
    @ConditionalOnMissingBean(LockProvider.class)
    SemaphoreLockProvider semaphoreLockProvider(SemaphoreOperations semaphores, Properties properties) {
        return new SemaphoreLockProvider(semaphores, properties.prefix());
    }

    /** Declares the locks' pattern, even for the application's own provider if that uses a {@link SemaphoreLockProvider}. */
    @Bean
    SemaphoreSettingsCustomizer semaphoreLockProviderSettings(Properties properties) {
        return SemaphoreLockProvider.requests(properties.prefix())::declareIn;
    }

    /** Warns that the application's provider takes precedence. */
    @Bean
    @Lazy(false)
    @ConditionalOnMissingBean(SemaphoreLockProvider.class)
    SmartInitializingSingleton semaphoreLockProviderWithoutEffect() {
        return () -> LoggerFactory.getLogger(LockProviderAutoConfiguration.class)
                .warn("semaphore.adapters.shedlock.enabled=true only declares the pattern of its locks: the application"
                        + " has its own LockProvider. Remove that bean, or the property, unless the bean uses a"
                        + " SemaphoreLockProvider");
    }

    /**
     * The locks of ShedLock.
     *
     * @param enabled Whether to add a LockProvider bean for ShedLock, unless the application has one.
     * @param prefix Prefix of the semaphores' names, up to 119 characters. The name of the lock follows.
     */
    @ConfigurationProperties("semaphore.adapters.shedlock")
    record Properties(
            @DefaultValue("false") boolean enabled,
            @DefaultValue("shedlock:") String prefix) {

        Properties {
            SemaphoreLockProvider.requests(prefix); // checks it
        }
    }
}
