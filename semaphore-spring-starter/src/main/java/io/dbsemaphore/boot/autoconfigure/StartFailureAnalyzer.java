package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.spi.StartFailure;
import java.lang.reflect.Modifier;
import java.util.Arrays;
import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.springframework.aop.framework.AopConfigException;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.boot.diagnostics.FailureAnalyzer;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.AnnotatedElementUtils;
import org.springframework.core.annotation.Order;
import org.springframework.core.env.Environment;
import org.springframework.util.ClassUtils;
import org.springframework.util.ReflectionUtils;

/**
 * Shows the problem and the action of a {@link StartFailure}. Also explains why Spring cannot create a bean of the application: there is
 * no bean of the library to inject, a final class with {@code @WithPermits} methods cannot be proxied, or the application has no database.
 * Comes before the analyzers of Spring Boot, which suggest defining the missing bean, or an embedded database.
 */
@Order(Ordered.HIGHEST_PRECEDENCE)
record StartFailureAnalyzer(BeanFactory beanFactory, Environment environment) implements FailureAnalyzer {

    private static final List<Class<?>> OFFERED =
            List.of(SemaphoreOperations.class, SemaphoreAdmin.class, SemaphoreMaintenance.class, SemaphoreEngine.class);

    private static final Pattern CLASS = Pattern.compile("class ([\\w.$]+)");

    private static final String OPEN_THE_CLASS = """
            Do one of these:
                - Remove final (in Kotlin: make the class open, or use the compiler plugin kotlin-spring)
                - Let it implement an interface, inject that, and set spring.aop.proxy-target-class=false
                - Use SemaphoreOperations.execute in its methods instead of the annotation""";

    /** By name: the class is not accessible. */
    private static final String NO_DATA_SOURCE = "DataSourceBeanCreationException";

    private static final String EXCLUDE_THE_DATA_SOURCE = """
            If the application has a database, set spring.datasource.url, or activate the profile that sets it. For a database in memory, add \
            the dependency com.h2database:h2 instead.

            If it has none, exclude the DataSource, and give the semaphores a database of their own:
                spring.autoconfigure.exclude=%s
                semaphore.datasource.url=jdbc:...""".formatted(DataSourceAutoConfiguration.class.getName());

    @Override
    public @Nullable FailureAnalysis analyze(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            FailureAnalysis analysis = null;
            if (cause instanceof StartFailure explained) {
                analysis = show(explained, cause);
            } else if (cause instanceof NoSuchBeanDefinitionException missing) {
                analysis = missingBean(missing);
            } else if (cause instanceof AopConfigException unproxied) {
                analysis = finalClass(unproxied);
            } else if (cause.getClass().getSimpleName().equals(NO_DATA_SOURCE)
                    && !environment.containsProperty("spring.datasource.url")) {
                analysis = new FailureAnalysis(
                        "Spring Boot cannot create the DataSource that it configures because of spring-boot-starter-jdbc, which the"
                                + " starter of the semaphores brings: spring.datasource.url is not set.",
                        EXCLUDE_THE_DATA_SOURCE,
                        cause);
            }
            if (analysis != null) {
                return analysis;
            }
        }
        return null;
    }

    private static FailureAnalysis show(StartFailure failure, Throwable cause) {
        return new FailureAnalysis(failure.description(), failure.action(), cause);
    }

    private @Nullable FailureAnalysis missingBean(NoSuchBeanDefinitionException cause) {
        ResolvableType missing = cause.getResolvableType();
        if (missing == null
                || OFFERED.stream().noneMatch(offered -> offered.isAssignableFrom(missing.toClass()))
                || !(beanFactory instanceof ListableBeanFactory beans)
                || !UnenforcedPermits.isIn(beans)) {
            return null;
        }
        String consequence =
                "There is no %s to inject.".formatted(missing.toClass().getSimpleName());
        return show(UnenforcedPermits.explain(consequence, beans), cause);
    }

    /** Null for other advice. */
    private static @Nullable FailureAnalysis finalClass(AopConfigException cause) {
        Matcher named = CLASS.matcher(String.valueOf(cause.getMessage()));
        while (named.find()) {
            Class<?> type = load(named.group(1));
            if (type != null && Modifier.isFinal(type.getModifiers()) && hasPermits(type)) {
                return new FailureAnalysis(
                        "The class %s has @WithPermits methods but is final, so no proxy can guard them."
                                .formatted(type.getName()),
                        OPEN_THE_CLASS,
                        cause);
            }
        }
        return null;
    }

    private static boolean hasPermits(Class<?> type) {
        return AnnotatedElementUtils.hasAnnotation(type, WithPermits.class)
                || Arrays.stream(ReflectionUtils.getAllDeclaredMethods(type))
                        .anyMatch(method -> AnnotatedElementUtils.hasAnnotation(method, WithPermits.class));
    }

    private static @Nullable Class<?> load(String name) {
        return ClassUtils.isPresent(name, null) ? ClassUtils.resolveClassName(name, null) : null;
    }
}
