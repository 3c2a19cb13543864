package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.aop.UnguardableMethodException;
import io.dbsemaphore.aop.WithPermitsAdvisor;
import io.dbsemaphore.engine.SemaphoreEngine;
import java.util.Collection;
import java.util.concurrent.Executor;
import java.util.function.Supplier;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.aop.framework.Advised;
import org.springframework.aop.support.AopUtils;
import org.springframework.aot.hint.annotation.RegisterReflectionForBinding;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.config.SingletonBeanRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.ImportBeanDefinitionRegistrar;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.Environment;
import org.springframework.core.type.AnnotationMetadata;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;
import org.springframework.util.function.SingletonSupplier;

/** The advice for {@link io.dbsemaphore.annotation.WithPermits}. */
@Configuration(proxyBeanMethods = false)
@Import(AdviceConfiguration.AutoProxyCreatorRegistrar.class)
@RegisterReflectionForBinding(SemaphoreProperties.Aop.class)
final class AdviceConfiguration {

    private static final Logger log = LoggerFactory.getLogger(AdviceConfiguration.class);

    /**
     * Created before all ordinary beans, and must not depend on any of them: the first call looks up the operations and the threads, and
     * the order is bound here.
     */
    @Bean
    @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
    @ConditionalOnMissingBean(
            search = SearchStrategy.CURRENT) // an advisor of a parent context does not advise beans of this one
    static WithPermitsAdvisor withPermitsAdvisor(
            ObjectProvider<SemaphoreOperations> operations,
            ObjectProvider<SemaphoreEngine> engines,
            BeanFactory beanFactory,
            Environment environment) {
        int order = Binder.get(environment)
                .bindOrCreate("semaphore.aop", SemaphoreProperties.Aop.class)
                .order();
        Supplier<Executor> threads = SingletonSupplier.of(() -> {
            SemaphoreEngine engine = engines.getIfUnique();
            return engine == null ? WithPermitsAdvisor.ownThreads() : engine.applicationThreads();
        });
        Supplier<SemaphoreOperations> first = () -> {
            Executor unused = threads.get(); // not later: when the work ends, the context may be closed
            return operations.getObject();
        };
        return new WithPermitsAdvisor(
                first, beanFactory, order, task -> threads.get().execute(task));
    }

    /**
     * The type of a bean, without creating it. Null if the type is not known, or if types of its methods are not on the class path.
     */
    static @Nullable Class<?> typeOf(String beanName, BeanFactory beanFactory) {
        try {
            Class<?> type = beanFactory.getType(beanName, false);
            if (type != null) {
                Stream.concat(Stream.of(type), ClassUtils.getAllInterfacesForClassAsSet(type).stream())
                        .forEach(ReflectionUtils::getAllDeclaredMethods);
            }
            return type;
        } catch (IllegalStateException incomplete) {
            return null;
        }
    }

    /**
     * Warns of a bean that has annotated methods, but no proxy: it was created before the proxy creator, or is an aspect. Does not fail:
     * a test may have replaced the bean with a mock.
     */
    static void warnIfUnguarded(String beanName, SingletonBeanRegistry beans, Collection<WithPermitsAdvisor> advisors) {
        Object bean = beans.getSingleton(beanName);
        boolean unguarded;
        try {
            unguarded = bean != null
                    && !AopUtils.isAopProxy(bean)
                    && advisors.stream()
                            .anyMatch(advisor -> advisor.getClassFilter().matches(bean.getClass()));
        } catch (IllegalStateException failure) {
            unguarded = failure instanceof UnguardableMethodException;
        }
        if (unguarded) {
            log.warn(
                    "The @WithPermits methods of bean '{}' acquire no permits, since it has no proxy. Ignore this for a"
                            + " mock. Another bean is an aspect, or a BeanFactoryPostProcessor or BeanPostProcessor needs"
                            + " it too early: let that look it up later, for example by an ObjectProvider",
                    beanName);
        }
    }

    /** Whether methods of an existing bean, or of the product of a factory bean, acquire permits. */
    static boolean isGuarded(String beanName, ConfigurableListableBeanFactory beanFactory) {
        Object bean = beanFactory.getSingleton(beanName);
        if (bean instanceof FactoryBean) {
            Class<?> product = typeOf(beanName, beanFactory);
            return product != null
                    && beanFactory.getBeanProvider(WithPermitsAdvisor.class).stream()
                            .anyMatch(advisor -> advisor.getClassFilter().matches(product));
        }
        return bean instanceof Advised proxy
                && Stream.of(proxy.getAdvisors()).anyMatch(WithPermitsAdvisor.class::isInstance);
    }

    /**
     * Registers the auto-proxy creator that transactions use, which also works with {@code spring.aop.auto=false} and without
     * AspectJ. Proxies are class-based if Spring Boot makes them so.
     */
    record AutoProxyCreatorRegistrar(Environment environment) implements ImportBeanDefinitionRegistrar {

        @Override
        public void registerBeanDefinitions(AnnotationMetadata importingClass, BeanDefinitionRegistry registry) {
            AopConfigUtils.registerAutoProxyCreatorIfNecessary(registry);
            if (environment.getProperty("spring.aop.auto", Boolean.class, true)
                    && environment.getProperty("spring.aop.proxy-target-class", Boolean.class, true)) {
                AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(registry);
            }
        }
    }
}
