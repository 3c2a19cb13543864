package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.SemaphoreTableMismatchException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains that a table is another application's, or of an older version of the library. */
final class SemaphoreTableMismatchFailureAnalyzer extends AbstractFailureAnalyzer<SemaphoreTableMismatchException> {

    static final String PREFIX = """
            Give the tables of the semaphores names of their own: semaphore.table-prefix=app_ (any prefix), and where Liquibase \
            makes them the same as a parameter of the changelog, spring.liquibase.parameters.[dbsemaphore.tablePrefix]=app_""";

    private static final String OLDER = """
            Do one of these, before the first instance of this version starts:
                - Run the application's own changelog, which includes that of the library
                - Run the SQL script db/dbsemaphore/sql/{mysql,mariadb,postgresql,h2}.sql of the library again, or what is new \
            in it: what is there stays as it is
                - Let the library run its changelog itself: semaphore.liquibase.enabled=true""";

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, SemaphoreTableMismatchException cause) {
        String columns = String.join(", ", cause.missingColumns());
        return cause.isForeign()
                ? new FailureAnalysis(
                        "The table '%s' is there, but it is not the one of the semaphores: it lacks the column(s) %s. Another application has a table of that name."
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
