package io.dbsemaphore.engine;

import io.dbsemaphore.spi.StartFailure;

/** Thrown when an engine starts on a database, or with an option of its driver, that is not supported. */
public final class UnsupportedDatabaseException extends IllegalStateException implements StartFailure {

    private static final long serialVersionUID = 1L;

    private static final String SUPPORTED = "MySQL 8.4+, MariaDB 10.11+, PostgreSQL 15+ and H2 2.x";

    private static final String ACTION = """
            Do one of these:

                - Set semaphore.datasource to the name of a DataSource bean whose database is one of %s

                - Disable semaphores: semaphore.enabled=false""";

    /** The product and version of the database; for an option of the driver, the option. */
    private final String database;

    /** What is wrong. */
    private final String description;
    /** What to do. */
    private final String action;

    private UnsupportedDatabaseException(String message, String database, String description, String action) {
        super(message);
        this.database = database;
        this.description = description;
        this.action = action;
    }

    static UnsupportedDatabaseException ofDatabase(String database) {
        return new UnsupportedDatabaseException(
                "Semaphores are not supported on %s. Use one of %s, and name its DataSource with semaphore.datasource"
                        .formatted(database, SUPPORTED),
                database,
                "Semaphores are not supported on %s, the database of the DataSource chosen for them."
                        .formatted(database),
                ACTION.formatted(SUPPORTED));
    }

    static UnsupportedDatabaseException ofOption(String option) {
        String description =
                "The driver of the DataSource for semaphores has the option %s, with which their grants would be wrong."
                        .formatted(option);
        String action = "Remove %s from its URL or properties.".formatted(option);
        return new UnsupportedDatabaseException(description + " " + action, option, description, action);
    }

    /**
     * {@return the product and version of the database, as its driver reports them; for an option of the driver that is not supported, its
     * name and value}
     */
    public String database() {
        return database;
    }

    /** {@return the supported databases with their versions, as text} */
    public String supported() {
        return SUPPORTED;
    }

    @Override
    public String description() {
        return description;
    }

    @Override
    public String action() {
        return action;
    }
}
