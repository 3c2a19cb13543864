package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.DatabaseUnreachableException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;

/** Explains that the library could not reach the database at start. */
final class DatabaseUnreachableFailureAnalyzer extends AbstractFailureAnalyzer<DatabaseUnreachableException> {

    private final Environment environment;

    DatabaseUnreachableFailureAnalyzer(Environment environment) {
        this.environment = environment;
    }

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, DatabaseUnreachableException cause) {
        return UnreachableDatabase.explain(
                "The database of the semaphores",
                cause.url().orElse(null),
                environment.containsProperty(OwnPoolProperties.URL),
                cause);
    }
}
