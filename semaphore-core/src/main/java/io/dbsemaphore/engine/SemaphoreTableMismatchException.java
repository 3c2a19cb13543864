package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreException;
import java.util.List;

/**
 * Thrown when a table lacks columns because it belongs to another application or to an older version of the library.
 */
public final class SemaphoreTableMismatchException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

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
                                ? "It is not the one of the semaphores: set semaphore.table-prefix"
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
}
