package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.engine.SemaphoreTablesMissingException;
import org.springframework.boot.diagnostics.AbstractFailureAnalyzer;
import org.springframework.boot.diagnostics.FailureAnalysis;

/** Explains how to create the tables. */
final class SemaphoreTablesMissingFailureAnalyzer extends AbstractFailureAnalyzer<SemaphoreTablesMissingException> {

    private static final String DESCRIPTION = """
            Tables of the semaphores are missing from the database: %1$ssemaphore, %1$spermit_request, %1$spermit, \
            %1$ssemaphore_instance, %1$ssemaphore_waiter and %1$scapacity_change are required, in the schema of the connections.""";

    private static final String ACTION = """
            Do one of these:

                - Let the library create them at start by its SQL script: semaphore.initialize-schema=always

                - Include the changelog of the library in the Liquibase changelog of the application, in XML

                      <include file="%1$s"/>

                  or in YAML

                      - include:
                          file: %1$s
            %2$s
                - Add the SQL script db/dbsemaphore/sql/{mysql,mariadb,postgresql,h2}.sql of the library to the \
            application's own migrations, for example with Flyway

                - If they are in another schema (spring.liquibase.default-schema), use it for the connections, too: \
            spring.datasource.hikari.schema

                - Let the library run its changelog itself: semaphore.liquibase.enabled=true, with the dependency \
            org.liquibase:liquibase-core

                - Disable semaphores: semaphore.enabled=false""";

    private static final String PREFIX_PARAMETER = """

                  with the prefix of the tables as a parameter

                      spring.liquibase.parameters.[dbsemaphore.tablePrefix]=%s
            """;

    @Override
    protected FailureAnalysis analyze(Throwable rootFailure, SemaphoreTablesMissingException cause) {
        String prefix = cause.tablePrefix();
        return new FailureAnalysis(
                DESCRIPTION.formatted(prefix),
                ACTION.formatted(
                        SemaphoreTablesMissingException.CHANGELOG,
                        prefix.isEmpty() ? "" : PREFIX_PARAMETER.formatted(prefix)),
                cause);
    }
}
