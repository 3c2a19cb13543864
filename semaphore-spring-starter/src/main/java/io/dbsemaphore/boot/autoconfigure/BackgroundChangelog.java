package io.dbsemaphore.boot.autoconfigure;

import java.time.Duration;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Changelogs that an application runs while it is already starting, such as with JHipster's {@code AsyncSpringLiquibase}: the
 * bean is there before the tables are.
 */
final class BackgroundChangelog {

    private static final String LIQUIBASE = "liquibase.integration.spring.SpringLiquibase";
    private static final Duration WHERE_THERE_IS_ONE = Duration.ofMinutes(1);

    private BackgroundChangelog() {}

    /** How long to wait for the tables: as configured, or else a minute where a changelog runs in the background. */
    static Duration timeToWait(@Nullable Duration configured, ListableBeanFactory beanFactory) {
        if (configured != null) {
            return configured;
        }
        return isThere(beanFactory) ? WHERE_THERE_IS_ONE : Duration.ZERO;
    }

    private static boolean isThere(ListableBeanFactory beanFactory) {
        ClassLoader classLoader = BackgroundChangelog.class.getClassLoader();
        if (!ClassUtils.isPresent(LIQUIBASE, classLoader)) {
            return false;
        }
        Class<?> liquibase = ClassUtils.resolveClassName(LIQUIBASE, classLoader);
        return beanFactory.getBeanProvider(liquibase).stream().anyMatch(BackgroundChangelog::isAsynchronous);
    }

    private static boolean isAsynchronous(Object liquibase) {
        return Stream.<Class<?>>iterate(liquibase.getClass(), type -> type != null, Class::getSuperclass)
                .anyMatch(type -> type.getSimpleName().startsWith("Async"));
    }
}
