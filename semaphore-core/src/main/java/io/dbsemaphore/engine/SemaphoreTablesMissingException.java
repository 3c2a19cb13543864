package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreException;
import io.dbsemaphore.persistence.unit.TableName;
import io.dbsemaphore.spi.StartFailure;

/** Thrown when tables of the semaphores do not exist. */
public class SemaphoreTablesMissingException extends SemaphoreException implements StartFailure {

    private static final long serialVersionUID = 1L;

    /** The location of the changelog on the class path. */
    public static final String CHANGELOG = "db/dbsemaphore/changelog.xml";

    private static final String ACTION = """
            Do one of these:

                - Let the library create them at start by its SQL script: semaphore.jdbc.initialize-schema=always. If \
            semaphore.jdbc.schema-wait is set, remove it: with it, the library waits for something else to create them

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

                - Name an H2 database that is in memory, and keep it open without connections: jdbc:h2:mem:NAME;DB_CLOSE_DELAY=-1

                - Disable semaphores: semaphore.enabled=false""";

    private static final String PREFIX_PARAMETER = """

                  with the prefix of the tables as a parameter

                      spring.liquibase.parameters.[dbsemaphore.tablePrefix]=%s
            """;

    /** The configured prefix of the table names. */
    private final String tablePrefix;

    /**
     * Creates an exception.
     *
     * @param tablePrefix the configured prefix of the table names
     * @param cause the error of the database
     */
    public SemaphoreTablesMissingException(String tablePrefix, Throwable cause) {
        super(
                "The tables " + named(tablePrefix) + " are not all in the database. Include " + CHANGELOG
                        + " in the Liquibase changelog of the application",
                cause);
        this.tablePrefix = tablePrefix;
    }

    private static String named(String tablePrefix) {
        return TableName.each(tablePrefix + "%s", ", ");
    }

    /** {@return the configured prefix of the table names} */
    public String tablePrefix() {
        return tablePrefix;
    }

    @Override
    public String description() {
        return "Tables of the semaphores are missing from the database: " + named(tablePrefix)
                + " are required, in the schema of the connections.";
    }

    @Override
    public String action() {
        return ACTION.formatted(CHANGELOG, tablePrefix.isEmpty() ? "" : PREFIX_PARAMETER.formatted(tablePrefix));
    }
}
