package io.dbsemaphore.engine;

import io.dbsemaphore.spi.StartFailure;

/** Thrown when an engine starts on a database, or with an option of its driver, that is not supported. */
public final class UnsupportedDatabaseException extends IllegalStateException implements StartFailure {

    private static final long serialVersionUID = 1L;

    private static final String SUPPORTED = "MySQL 8.4+, MariaDB 10.11+, PostgreSQL 14+ and H2 2.x";

    private static final String ACTION = """
            Do one of these:

                - Set semaphore.datasource to the name of a DataSource bean whose database is one of %s

                - Disable semaphores: semaphore.enabled=false""";

    /** The product and version of the database. */
    private final String database;

    private final String action;

    private UnsupportedDatabaseException(String message, String database, String action) {
        super(message);
        this.database = database;
        this.action = action;
    }

    static UnsupportedDatabaseException ofDatabase(String database) {
        return new UnsupportedDatabaseException(
                "Semaphores are not supported on %s. Use one of %s, and name its DataSource with semaphore.datasource"
                        .formatted(database, SUPPORTED),
                database,
                ACTION.formatted(SUPPORTED));
    }

    static UnsupportedDatabaseException ofOption(String option) {
        String database = "a connection with %s".formatted(option);
        String action = "Remove %s from the URL or the properties of the DataSource for semaphores".formatted(option);
        return new UnsupportedDatabaseException(
                "Semaphores are not supported on %s: with this option of the driver more permits could be granted than there are, or for another time. %s"
                        .formatted(database, action),
                database,
                action + ".");
    }

    /** {@return the product and version of the database, as its driver reports them} */
    public String database() {
        return database;
    }

    /** {@return the supported databases with their versions, as text} */
    public String supported() {
        return SUPPORTED;
    }

    @Override
    public String description() {
        return "Semaphores are not supported on %s, the database of the DataSource chosen for them."
                .formatted(database);
    }

    @Override
    public String action() {
        return action;
    }
}
