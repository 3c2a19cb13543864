package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreException;

/** Thrown when tables of the semaphores do not exist. */
public class SemaphoreTablesMissingException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** The location of the changelog on the class path. */
    public static final String CHANGELOG = "db/dbsemaphore/changelog.xml";

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
                "The tables %ssemaphore, %<spermit_request, %<spermit, %<ssemaphore_instance, %<ssemaphore_waiter and %<scapacity_change are not all in the database."
                                .formatted(tablePrefix)
                        + " Include " + CHANGELOG + " in the Liquibase changelog of the application",
                cause);
        this.tablePrefix = tablePrefix;
    }

    /** {@return the configured prefix of the table names} */
    public String tablePrefix() {
        return tablePrefix;
    }
}
