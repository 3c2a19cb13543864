package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreException;
import io.dbsemaphore.spi.StartFailure;
import java.util.List;

/**
 * Thrown when a table lacks columns because it belongs to another application or to an older version of the library.
 */
public final class SemaphoreTableMismatchException extends SemaphoreException implements StartFailure {

    private static final long serialVersionUID = 1L;

    private static final String PREFIX = """
            Choose a prefix for the tables of the semaphores: semaphore.jdbc.table-prefix=app_ (any prefix). If Liquibase \
            creates them, pass it to the changelog, too: spring.liquibase.parameters.[dbsemaphore.tablePrefix]=app_""";

    private static final String OLDER = """
            Do one of these, before the first instance of this version starts:
                - Run the application's own changelog, which includes that of the library
                - Run the SQL script db/dbsemaphore/sql/{mysql,mariadb,postgresql,h2}.sql of the library again, or its new \
            statements: existing tables are not changed
                - Let the library do that at start: semaphore.jdbc.initialize-schema=always without semaphore.jdbc.schema-wait, or, where \
            Liquibase created the tables, semaphore.liquibase.enabled=true""";

    /** The name of the table, including the prefix. */
    private final String table;
    /** The missing columns. */
    private final String[] missingColumns;
    /** Whether the table belongs to another application. */
    private final boolean foreign;

    /**
     * Creates an exception.
     *
     * @param table the name of the table, including the prefix
     * @param missingColumns the missing columns
     * @param foreign whether so many columns are missing that the table must belong to another application
     * @param cause the error of the database
     */
    public SemaphoreTableMismatchException(
            String table, List<String> missingColumns, boolean foreign, Throwable cause) {
        super(
                "The table '%s' lacks the column(s) %s. ".formatted(table, String.join(", ", missingColumns))
                        + (foreign
                                ? "It is not the one of the semaphores: set semaphore.jdbc.table-prefix"
                                : "The changelog of this version of the library has not run"),
                cause);
        this.table = table;
        this.missingColumns = missingColumns.toArray(String[]::new);
        this.foreign = foreign;
    }

    /** {@return the name of the table, including the prefix} */
    public String table() {
        return table;
    }

    /** {@return the missing columns} */
    public List<String> missingColumns() {
        return List.of(missingColumns);
    }

    /** {@return whether so many columns are missing that the table must belong to another application} */
    public boolean isForeign() {
        return foreign;
    }

    @Override
    public String description() {
        return (foreign
                        ? "The table '%s' exists, but is not that of the semaphores: it lacks the column(s) %s. Another application has a table of that name."
                        : "The table '%s' lacks the column(s) %s: the changelog of this version of the library has not run.")
                .formatted(table, String.join(", ", missingColumns));
    }

    @Override
    public String action() {
        return foreign ? PREFIX : OLDER;
    }
}
