package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.aop.WithPermitsAdvisor;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.support.BeanDefinitionRegistry;
import org.springframework.boot.autoconfigure.AutoConfiguration;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.condition.ConditionalOnMissingBean;
import org.springframework.boot.autoconfigure.condition.SearchStrategy;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotatedBeanDefinitionReader;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.MergedAnnotation;
import org.springframework.core.annotation.MergedAnnotations;
import org.springframework.test.context.ContextConfigurationAttributes;
import org.springframework.test.context.ContextCustomizer;
import org.springframework.test.context.ContextCustomizerFactory;
import org.springframework.test.context.MergedContextConfiguration;
import org.springframework.test.context.TestContextAnnotationUtils;

/**
 * Grants all permits in the test slices of Spring Boot, such as {@code @WebMvcTest}, unless they import the semaphores. Without
 * this, methods with {@code @WithPermits} would have no proxy there, and {@code Permits.current()} and {@code Permits.assertHeld}
 * would throw.
 */
final class TestSliceCustomizerFactory implements ContextCustomizerFactory {

    /** By name: it need not be on the class path. */
    private static final String SLICE = "org.springframework.boot.test.autoconfigure.OverrideAutoConfiguration";

    @Override
    public @Nullable ContextCustomizer createContextCustomizer(
            Class<?> testClass, List<ContextConfigurationAttributes> configAttributes) {
        MergedAnnotation<?> slice = MergedAnnotations.search(MergedAnnotations.SearchStrategy.TYPE_HIERARCHY)
                .withEnclosingClasses(TestContextAnnotationUtils::searchEnclosingClass)
                .from(testClass)
                .get(SLICE);
        return slice.isPresent() && !slice.getBoolean("enabled") ? new Customizer() : null;
    }

    /** A record: equal ones share a cached context. */
    private record Customizer() implements ContextCustomizer {

        @Override
        public void customizeContext(ConfigurableApplicationContext context, MergedContextConfiguration mergedConfig) {
            if (context.getBeanFactory() instanceof BeanDefinitionRegistry registry) {
                new AnnotatedBeanDefinitionReader(registry).register(Slice.class);
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration(TestSliceAutoConfiguration.class)
    static class Slice {}

    /** The auto-configuration that grants all permits. */
    @AutoConfiguration(after = {SemaphoreAutoConfiguration.class, SemaphoreFallbackAutoConfiguration.class})
    @ConditionalOnMissingBean(value = WithPermitsAdvisor.class, search = SearchStrategy.CURRENT)
    @Import({AdviceConfiguration.class, UncountedPermits.Beans.class})
    static final class TestSliceAutoConfiguration {}
}
