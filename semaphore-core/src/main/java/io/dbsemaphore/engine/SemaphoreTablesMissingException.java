package io.dbsemaphore.engine;

import io.dbsemaphore.SemaphoreException;

/** The tables of the semaphores are not in the database. */
public class SemaphoreTablesMissingException extends SemaphoreException {

    private static final long serialVersionUID = 1L;

    /** Where the changelog is on the class path. */
    public static final String CHANGELOG = "db/dbsemaphore/changelog.xml";

    private final String tablePrefix;

    /** Creates an exception. */
    public SemaphoreTablesMissingException(String tablePrefix, Throwable cause) {
        super(
                "The tables %ssemaphore, %<spermit_request, %<spermit, %<ssemaphore_instance and %<scapacity_change are not all in the database."
                                .formatted(tablePrefix)
                        + " Include " + CHANGELOG + " in the Liquibase changelog of the application",
                cause);
        this.tablePrefix = tablePrefix;
    }

    /** The configured prefix of their names. */
    public String tablePrefix() {
        return tablePrefix;
    }
}
