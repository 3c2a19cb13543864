package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.DatabaseUnreachableException;
import io.dbsemaphore.jdbc.SqlErrors;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains that the database could not be reached at start. */
final class DatabaseUnreachableFailureAnalyzer extends AbstractFailureAnalyzer<DatabaseUnreachableException> {

    private static final String ACTION = """
            Do one of these:
                - Start the database, or correct spring.datasource.url, spring.datasource.username and \
            spring.datasource.password
                - If the semaphores are in a database other than that of the primary DataSource, set semaphore.datasource to \
            the name of its DataSource bean
                - Disable semaphores: semaphore.enabled=false""";

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, DatabaseUnreachableException cause) {
        String answer = SqlErrors.root(cause).map(Throwable::getMessage).orElse("");
        return new FailureAnalysis(
                "The database of the semaphores cannot be reached: %s".formatted(answer), ACTION, cause);
    }
}
