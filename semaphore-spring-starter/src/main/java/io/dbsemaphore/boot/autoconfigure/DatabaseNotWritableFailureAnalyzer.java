package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.DatabaseNotWritableException;
import io.dbsemaphore.jdbc.SqlErrors;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains why the database rejects writes. */
final class DatabaseNotWritableFailureAnalyzer extends AbstractFailureAnalyzer<DatabaseNotWritableException> {

    private static final String READ_ONLY = """
            Semaphores need a writable database: a replica lags behind and does not know the current holders. \
            Do one of these:

                - Connect to the primary: spring.datasource.url (semaphore.datasource.url where that is set), and no \
            spring.datasource.hikari.read-only=true

                - Set semaphore.datasource to the name of a DataSource bean that is connected to the primary

                - If this is the primary, end its read-only mode (MySQL: super_read_only and read_only; MariaDB: \
            read_only; PostgreSQL: default_transaction_read_only)""";

    private static final String STATEMENT_BINLOG = """
            Semaphores use READ COMMITTED, which requires row-based logging. Set binlog_format=ROW (or MIXED) in the \
            configuration of the server, or on the running server:

                set global binlog_format = 'ROW';

            This applies to connections that are opened afterwards.""";

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, DatabaseNotWritableException cause) {
        return switch (cause.reason()) {
            case READ_ONLY -> analysis("The database of the semaphores is read-only", READ_ONLY, cause);
            case STATEMENT_BINLOG ->
                analysis(
                        "The database of the semaphores has binlog_format=STATEMENT and rejects writes at READ COMMITTED",
                        STATEMENT_BINLOG,
                        cause);
        };
    }

    private static FailureAnalysis analysis(String problem, String action, DatabaseNotWritableException cause) {
        String answer = SqlErrors.root(cause).map(Throwable::getMessage).orElse("");
        return new FailureAnalysis("%s. The database reports: %s".formatted(problem, answer), action, cause);
    }
}
