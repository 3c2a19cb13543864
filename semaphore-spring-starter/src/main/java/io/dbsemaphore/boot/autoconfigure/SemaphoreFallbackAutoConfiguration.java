package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.aop.WithPermitsAdvisor;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.annotation.Conditional;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;

/**
 * Auto-configuration for an application without semaphores. With {@code semaphore.enabled=false}, all permits are granted. Without a
 * database for the semaphores, a bean with {@link io.dbsemaphore.annotation.WithPermits} fails the start. A property under a former name
 * always fails it.
 */
@AutoConfiguration(after = SemaphoreAutoConfiguration.class)
@Import(RenamedProperties.class)
public final class SemaphoreFallbackAutoConfiguration {

    @Configuration(proxyBeanMethods = false)
    @Conditional(OnEnabled.Not.class)
    @Import({AdviceConfiguration.class, UncountedPermits.Beans.class})
    static class Disabled {}

    @Configuration(proxyBeanMethods = false)
    @Conditional(OnEnabled.class)
    @ConditionalOnMissingBean(value = WithPermitsAdvisor.class, search = SearchStrategy.CURRENT)
    @Import(UnenforcedPermits.class)
    static class WithoutDatabase {}
}
