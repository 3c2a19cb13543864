package io.dbsemaphore.boot.autoconfigure;

import java.time.Duration;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.util.ClassUtils;

/**
 * Detects changelogs that an application runs in the background during its start, such as JHipster's
 * {@code AsyncSpringLiquibase}: the bean exists before the tables do.
 */
final class BackgroundChangelog {

    private static final String LIQUIBASE = "liquibase.integration.spring.SpringLiquibase";
    private static final Duration DEFAULT_WAIT = Duration.ofMinutes(1);

    private BackgroundChangelog() {}

    /** How long to wait for the tables: as configured, else a minute if a changelog runs in the background. */
    static Duration timeToWait(@Nullable Duration configured, ListableBeanFactory beanFactory) {
        if (configured != null) {
            return configured;
        }
        return runsInBackground(beanFactory) ? DEFAULT_WAIT : Duration.ZERO;
    }

    private static boolean runsInBackground(ListableBeanFactory beanFactory) {
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
