package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.config.SemaphoreSettings;
import java.time.Duration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;

/** The beans to inject where permits are granted without being counted. */
@Configuration(proxyBeanMethods = false)
final class UncountedConfiguration {

    @Bean
    @ConditionalOnMissingBean(SemaphoreOperations.class)
    SemaphoreTemplate semaphoreTemplate(UncountedPermits.Reason reason, Environment environment) {
        Duration defaultTtl = Binder.get(environment)
                .bind(SemaphoreSettings.DEFAULT_TTL.property(), Duration.class)
                .orElseGet(() -> SemaphoreSettings.defaults().get(SemaphoreSettings.DEFAULT_TTL));
        return new SemaphoreTemplate(new UncountedPermits(reason, InstanceOwner.of(environment), defaultTtl));
    }

    @Bean
    @ConditionalOnMissingBean
    SemaphoreAdmin semaphoreAdmin() {
        return new NoSemaphores();
    }

    @Bean
    @ConditionalOnMissingBean
    SemaphoreMaintenance semaphoreMaintenance() {
        return new NoSemaphores.Maintenance();
    }
}
