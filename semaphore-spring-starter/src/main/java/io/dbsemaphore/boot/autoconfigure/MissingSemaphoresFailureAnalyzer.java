package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.engine.SemaphoreEngine;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.beans.factory.NoSuchBeanDefinitionException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.Ordered;
import org.springframework.core.ResolvableType;
import org.springframework.core.annotation.Order;

/** Explains why there is no bean of the library to inject. Comes before that of Spring Boot, which says to define one. */
@Order(Ordered.HIGHEST_PRECEDENCE)
final class MissingSemaphoresFailureAnalyzer extends AbstractFailureAnalyzer<NoSuchBeanDefinitionException> {

    private static final Set<Class<?>> OFFERED =
            Set.of(SemaphoreAdmin.class, SemaphoreEngine.class, SemaphoreMaintenance.class);

    private final BeanFactory beanFactory;

    MissingSemaphoresFailureAnalyzer(BeanFactory beanFactory) {
        this.beanFactory = beanFactory;
    }

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, NoSuchBeanDefinitionException cause) {
        ResolvableType missing = cause.getResolvableType();
        if (missing == null
                || !isOffered(missing.toClass())
                || !(beanFactory instanceof ListableBeanFactory beans)
                || !UnenforcedPermits.isIn(beans)) {
            return null;
        }
        SemaphoreConfigurationException explained = UnenforcedPermits.explain(
                "There is no %s to inject.".formatted(missing.toClass().getSimpleName()), beans);
        return new FailureAnalysis(explained.problem(), explained.action(), cause);
    }

    private static boolean isOffered(Class<?> type) {
        return OFFERED.contains(type) || SemaphoreOperations.class.isAssignableFrom(type);
    }
}
