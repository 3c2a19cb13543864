package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.aop.WithPermitsAdvisor;
import javax.sql.DataSource;
import org.springframework.aop.ClassFilter;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.beans.factory.config.BeanPostProcessor;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Refuses beans with {@code @WithPermits} if no database counts their permits: each bean when it is created, and at the end of the start
 * the beans that will be created later, as far as their types are known.
 */
final class UnenforcedPermits implements BeanPostProcessor, SmartInitializingSingleton {

    private static final String R2DBC = "io.r2dbc.spi.ConnectionFactory";

    private static final String ACTION = """
            Do one of these:
                - Give the semaphores connections of their own: semaphore.datasource.url=jdbc:..., \
            semaphore.datasource.username and semaphore.datasource.password, with the JDBC driver of the database on the class path. \
            The application can go on to use R2DBC, MongoDB or nothing else
                - If an auto-configuration of yours defines the DataSource: @AutoConfiguration(before = SemaphoreAutoConfiguration.class)
                - Define a DataSource bean, or let Spring Boot do that: spring.datasource.url (not beside a ConnectionFactory of R2DBC)
                - Run without limits: semaphore.enabled=false. All permits are granted then, and none is counted""";

    private final ConfigurableListableBeanFactory beanFactory;
    private final ClassFilter hasPermits;

    UnenforcedPermits(ConfigurableListableBeanFactory beanFactory) {
        this.beanFactory = beanFactory;
        this.hasPermits = new WithPermitsAdvisor(
                        beanFactory.getBeanProvider(SemaphoreOperations.class)::getObject, beanFactory)
                .getClassFilter();
    }

    /** Whether this is an application without a database for the semaphores, although they are not disabled. */
    static boolean isIn(ListableBeanFactory beanFactory) {
        return beanFactory.getBeanNamesForType(UnenforcedPermits.class, true, false).length > 0;
    }

    /** @param consequence the consequence of the missing database, as a sentence */
    static SemaphoreConfigurationException explain(String consequence, ListableBeanFactory beanFactory) {
        return new SemaphoreConfigurationException(consequence + " " + reason(beanFactory), ACTION);
    }

    private static String reason(ListableBeanFactory beanFactory) {
        if (hasBean(beanFactory, DataSource.class.getName())) {
            return "The auto-configuration of the semaphores, SemaphoreAutoConfiguration, is excluded, or comes before that of the"
                    + " DataSource.";
        }
        String none = "The semaphores have no database: there is no DataSource bean, and no semaphore.datasource.url.";
        return hasBean(beanFactory, R2DBC)
                ? none + " Spring Boot configures no DataSource beside the ConnectionFactory of R2DBC."
                : none;
    }

    private static boolean hasBean(ListableBeanFactory beanFactory, String type) {
        ClassLoader loader = UnenforcedPermits.class.getClassLoader();
        return ClassUtils.isPresent(type, loader)
                && beanFactory.getBeanNamesForType(ClassUtils.resolveClassName(type, loader), true, false).length > 0;
    }

    @Override
    public Object postProcessBeforeInitialization(Object bean, String beanName) {
        refuse(beanName, bean.getClass());
        return bean;
    }

    /** Also called for the products of factory beans, such as repositories. */
    @Override
    public Object postProcessAfterInitialization(Object bean, String beanName) {
        refuse(beanName, bean.getClass());
        return bean;
    }

    @Override
    public void afterSingletonsInstantiated() {
        for (String name : beanFactory.getBeanDefinitionNames()) {
            Class<?> type = AdviceConfiguration.typeOf(name, beanFactory);
            if (type != null) {
                refuse(name, type);
            }
        }
    }

    private void refuse(String beanName, Class<?> type) {
        if (hasPermits.matches(type)) {
            throw explain(
                    "The bean '%s' (%s) has @WithPermits methods, but nothing would limit them."
                            .formatted(beanName, type.getName()),
                    beanFactory);
        }
    }
}
