package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.DatabaseNotWritableException;
import io.dbsemaphore.jdbc.SqlErrors;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;
import org.springframework.core.env.Environment;

/** Explains why the database rejects writes, or denies access. */
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

    private static final String DENIED = """
            Grant the user of spring.datasource.username (semaphore.datasource.username where that is set) what it needs at run \
            time, on the tables in their schema, as an administrator:

                grant select, insert, update on %1$ssemaphore to ...;
                grant select, insert, update on %1$spermit_request to ...;
                grant select, insert, update on %1$spermit to ...;
                grant select, insert, update on %1$ssemaphore_instance to ...;
                grant select, insert, update, delete on %1$ssemaphore_waiter to ...;
                grant select, insert on %1$scapacity_change to ...;

            The clean-up of the maintenance also needs delete on all of them. If the user is to create the tables \
            (semaphore.liquibase.enabled, semaphore.initialize-schema), it also needs what that takes, such as CREATE, ALTER, INDEX \
            and REFERENCES.""";

    private final Environment environment;

    DatabaseNotWritableFailureAnalyzer(Environment environment) {
        this.environment = environment;
    }

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, DatabaseNotWritableException cause) {
        return switch (cause.reason()) {
            case READ_ONLY -> analysis("The database of the semaphores is read-only", READ_ONLY, cause);
            case STATEMENT_BINLOG ->
                analysis(
                        "The database of the semaphores has binlog_format=STATEMENT and rejects writes at READ COMMITTED",
                        STATEMENT_BINLOG,
                        cause);
            case DENIED ->
                analysis(
                        "The database user lacks a privilege that the semaphores need",
                        DENIED.formatted(environment.getProperty("semaphore.table-prefix", "")),
                        cause);
        };
    }

    private static FailureAnalysis analysis(String problem, String action, DatabaseNotWritableException cause) {
        String answer = SqlErrors.root(cause).map(Throwable::getMessage).orElse("");
        return new FailureAnalysis("%s. The database reports: %s".formatted(problem, answer), action, cause);
    }
}
