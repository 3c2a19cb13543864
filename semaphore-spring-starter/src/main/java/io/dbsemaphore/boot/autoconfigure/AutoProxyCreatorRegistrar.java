package io.dbsemaphore.boot.autoconfigure;

import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;

/**
 * Registers an auto-proxy creator that applies infrastructure advisors, also with {@code spring.aop.auto=false} and
 * without AspectJ. It is the one that transactions use. Proxies are class-based if those of Spring Boot are.
 */
final class AutoProxyCreatorRegistrar implements ImportBeanDefinitionRegistrar {

    private final Environment environment;

    AutoProxyCreatorRegistrar(Environment environment) {
        this.environment = environment;
    }

    @Override
    public void registerBeanDefinitions(AnnotationMetadata importingClass, BeanDefinitionRegistry registry) {
        AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
        if (environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true)) {
            AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
        }
    }
}
