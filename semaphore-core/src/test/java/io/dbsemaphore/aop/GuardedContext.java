package io.dbsemaphore.aop;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.SemaphoreTemplate;
import java.util.Map;
import org.springframework.aop.config.AopConfigUtils;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.config.BeanDefinition;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Role;
import org.springframework.core.env.MapPropertySource;

/** A real Spring context with the advisor in it, over semaphores in memory. */
final class GuardedContext implements AutoCloseable {

    final InMemoryPermitManager permits = new InMemoryPermitManager();
    private final AnnotationConfigApplicationContext context = new AnnotationConfigApplicationContext();

    private GuardedContext(Map<String, Object> properties, boolean classProxies, Class<?>... beans) {
        AopConfigUtils.registerAutoProxyCreatorIfNecessary(context);
        if (classProxies) {
            AopConfigUtils.forceAutoProxyCreatorToUseClassProxying(context);
        }
        context.getEnvironment().getPropertySources().addFirst(new MapPropertySource("test", properties));
        context.registerBean(
                SemaphoreOperations.class,
                () -> new SemaphoreTemplate(permits),
                definition -> definition.setLazyInit(true));
        context.register(AdvisorConfiguration.class);
        context.register(beans);
        context.refresh();
    }

    static GuardedContext of(Class<?>... beans) {
        return new GuardedContext(Map.of(), true, beans);
    }

    static GuardedContext withProperties(Map<String, Object> properties, Class<?>... beans) {
        return new GuardedContext(properties, true, beans);
    }

    static GuardedContext withInterfaceProxies(Class<?>... beans) {
        return new GuardedContext(Map.of(), false, beans);
    }

    <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    boolean hasCreated(Class<?> type) {
        String[] names = context.getBeanNamesForType(type, true, false);
        return names.length > 0 && context.getBeanFactory().containsSingleton(names[0]);
    }

    @Override
    public void close() {
        context.close();
    }

    @Configuration(proxyBeanMethods = false)
    static class AdvisorConfiguration {

        @Bean
        @Role(BeanDefinition.ROLE_INFRASTRUCTURE)
        static WithPermitsAdvisor withPermitsAdvisor(
                ObjectProvider<SemaphoreOperations> operations, BeanFactory beanFactory) {
            return new WithPermitsAdvisor(operations::getObject, beanFactory);
        }
    }
}
