package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreException;
import java.util.List;

/** A table of the name of ours lacks columns: it is another application's, or of an older version of the library. */
public final class SemaphoreTableMismatchException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    private final String table;
    private final String[] missingColumns;
    private final boolean foreign;

    /**
     * Creates an exception.
     *
     * @param foreign whether it has so little in common with ours that it must be somebody else's
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

    /** The name of the table, with the prefix. */
    public String table() {
        return table;
    }

    /** The columns that it lacks. */
    public List<String> missingColumns() {
        return List.of(missingColumns);
    }

    /** Whether it has so little in common with ours that it must be somebody else's. */
    public boolean isForeign() {
        return foreign;
    }
}
