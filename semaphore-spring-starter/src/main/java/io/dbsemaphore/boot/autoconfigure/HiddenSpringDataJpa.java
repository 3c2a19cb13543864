package io.dbsemaphore.boot.autoconfigure;

import java.io.IOException;
import java.net.URL;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.Collections;
import java.util.Enumeration;
import java.util.List;
import org.springframework.aot.AotDetector;
import org.springframework.beans.factory.annotation.AnnotatedBeanDefinition;
import org.springframework.beans.factory.config.ConfigurableListableBeanFactory;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.beans.factory.support.BeanDefinitionRegistryPostProcessor;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.UrlResource;
import org.springframework.core.io.support.PropertiesLoaderUtils;
import org.springframework.core.io.support.SpringFactoriesLoader;
import org.springframework.util.ClassUtils;

/**
 * Hides the library's Spring Data JPA from the other Spring Data modules of the application.
 *
 * <p>Spring Data counts the modules on the class path by their entries in {@code META-INF/spring.factories}. If there are several, it
 * creates a repository only if the interface or its domain type clearly belongs to one of them. An application with Spring Data JDBC or
 * MongoDB and plain {@code CrudRepository}s would not start, because the library brings a second module. There is no property for this, so
 * this class changes the count.
 *
 * <p>While bean definitions are registered, which is when Spring Data counts, the class loader of the context leaves out the
 * {@code spring.factories} of Spring Data JPA. It delegates everything else to the original one, and defines no class. The original one is
 * back before the first bean is created. Nothing happens if the application uses Spring Data JPA, that is, if Spring Boot's
 * auto-configuration of it is on the class path, or a configuration class is annotated with {@code @EnableJpaRepositories}.
 */
final class HiddenSpringDataJpa implements ApplicationContextInitializer<ConfigurableApplicationContext> {

    private static final String AUTO_CONFIGURATION =
            "org.springframework.boot.data.jpa.autoconfigure.DataJpaRepositoriesAutoConfiguration";
    private static final String ENABLED_BY_HAND =
            "org.springframework.data.jpa.repository.config.EnableJpaRepositories";
    private static final String MODULES = "org.springframework.data.repository.core.support.RepositoryFactorySupport";
    private static final String FACTORY = "org.springframework.data.jpa.repository.support.JpaRepositoryFactory";

    @Override
    public void initialize(ConfigurableApplicationContext context) {
        if (!AotDetector.useGeneratedArtifacts()
                && !ClassUtils.isPresent(AUTO_CONFIGURATION, context.getClassLoader())) {
            context.addBeanFactoryPostProcessor(new WithoutSpringDataJpa(context));
        }
    }

    /** In use from before the configuration classes are parsed until all bean definitions are registered. */
    private static final class WithoutSpringDataJpa extends ClassLoader implements BeanDefinitionRegistryPostProcessor {

        private final ConfigurableApplicationContext context;

        WithoutSpringDataJpa(ConfigurableApplicationContext context) {
            super(context.getClassLoader());
            this.context = context;
        }

        @Override
        public void postProcessBeanDefinitionRegistry(BeanDefinitionRegistry registry) {
            context.setClassLoader(this);
        }

        @Override
        public void postProcessBeanFactory(ConfigurableListableBeanFactory beanFactory) {
            context.setClassLoader(getParent());
        }

        @Override
        public Enumeration<URL> getResources(String name) throws IOException {
            if (!name.equals(SpringFactoriesLoader.FACTORIES_RESOURCE_LOCATION) || isEnabledByHand()) {
                return super.getResources(name);
            }
            List<URL> visible = new ArrayList<>();
            for (URL url : Collections.list(super.getResources(name))) {
                if (!isOfSpringDataJpa(url)) {
                    visible.add(url);
                }
            }
            return Collections.enumeration(visible);
        }

        /** Whether a configuration class of the application enables JPA repositories. Such classes come before auto-configurations. */
        private boolean isEnabledByHand() {
            return Arrays.stream(context.getBeanFactory().getBeanDefinitionNames())
                    .map(context.getBeanFactory()::getBeanDefinition)
                    .anyMatch(definition -> definition instanceof AnnotatedBeanDefinition annotated
                            && annotated.getMetadata().isAnnotated(ENABLED_BY_HAND));
        }

        private static boolean isOfSpringDataJpa(URL url) throws IOException {
            return FACTORY.equals(
                    PropertiesLoaderUtils.loadProperties(new UrlResource(url)).getProperty(MODULES));
        }
    }
}
