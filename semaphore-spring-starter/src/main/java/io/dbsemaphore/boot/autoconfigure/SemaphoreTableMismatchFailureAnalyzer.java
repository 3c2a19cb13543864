package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.SemaphoreTableMismatchException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains that a table belongs to another application or to an older version of the library. */
final class SemaphoreTableMismatchFailureAnalyzer extends AbstractFailureAnalyzer<SemaphoreTableMismatchException> {

    static final String PREFIX = """
            Choose a prefix for the tables of the semaphores: semaphore.table-prefix=app_ (any prefix). If Liquibase \
            creates them, pass it to the changelog, too: spring.liquibase.parameters.[dbsemaphore.tablePrefix]=app_""";

    private static final String OLDER = """
            Do one of these, before the first instance of this version starts:
                - Run the application's own changelog, which includes that of the library
                - Run the SQL script db/dbsemaphore/sql/{mysql,mariadb,postgresql,h2}.sql of the library again, or its new \
            statements: existing tables are not changed
                - Let the library do that at start: semaphore.initialize-schema=always, or, where Liquibase created the tables, \
            semaphore.liquibase.enabled=true""";

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, SemaphoreTableMismatchException cause) {
        String columns = String.join(", ", cause.missingColumns());
        return cause.isForeign()
                ? new FailureAnalysis(
                        "The table '%s' exists, but is not that of the semaphores: it lacks the column(s) %s. Another application has a table of that name."
                                .formatted(cause.table(), columns),
                        PREFIX,
                        cause)
                : new FailureAnalysis(
                        "The table '%s' lacks the column(s) %s: the changelog of this version of the library has not run."
                                .formatted(cause.table(), columns),
                        OLDER,
                        cause);
    }
}
