package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.UnsupportedDatabaseException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains which databases are supported. */
final class UnsupportedDatabaseFailureAnalyzer extends AbstractFailureAnalyzer<UnsupportedDatabaseException> {

    private static final String ACTION = """
            Do one of these:

                - Set semaphore.datasource to the name of a DataSource bean whose database is one of %s

                - Disable semaphores: semaphore.enabled=false""";

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, UnsupportedDatabaseException cause) {
        return new FailureAnalysis(
                "Semaphores are not supported on %s, the database of the DataSource chosen for them."
                        .formatted(cause.database()),
                ACTION.formatted(cause.supported()),
                cause);
    }
}
