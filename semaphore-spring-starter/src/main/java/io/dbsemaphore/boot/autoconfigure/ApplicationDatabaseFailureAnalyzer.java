package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.DatabaseUnreachableException;
import io.dbsemaphore.jdbc.DatabaseUrl;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.springframework.beans.factory.BeanFactory;
import org.springframework.beans.factory.ListableBeanFactory;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;

/**
 * Explains that a bean of the application could not reach the database, where it is that of the semaphores: migrations run
 * before the library connects. Does not handle applications with several data sources. Is the last one of the library.
 */
final class ApplicationDatabaseFailureAnalyzer extends AbstractFailureAnalyzer<SQLException> {

    private static final String URL = "spring.datasource.url";
    private static final String ENGINE = "semaphoreEngine";

    private final BeanFactory beanFactory;
    private final Environment environment;

    ApplicationDatabaseFailureAnalyzer(BeanFactory beanFactory, Environment environment) {
        this.beanFactory = beanFactory;
        this.environment = environment;
    }

    @Override
    protected @Nullable FailureAnalysis analyze(Throwable rootFailure, SQLException cause) {
        if (!DatabaseUnreachableException.isFailureToConnect(cause) || !isDatabaseOfTheSemaphores()) {
            return null;
        }
        String url = environment.getProperty(URL);
        return UnreachableDatabase.explain(
                "The database of the application", url == null ? null : DatabaseUrl.withoutSecrets(url), false, cause);
    }

    private boolean isDatabaseOfTheSemaphores() {
        return beanFactory instanceof ListableBeanFactory beans
                && beans.containsBeanDefinition(ENGINE)
                && !environment.containsProperty(OwnPoolProperties.URL)
                && beans.getBeanNamesForType(DataSource.class, true, false).length == 1;
    }
}
