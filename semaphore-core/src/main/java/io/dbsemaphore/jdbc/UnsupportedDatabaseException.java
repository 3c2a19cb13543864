package io.dbsemaphore.jdbc;

/** The database is none of those that semaphores are supported on. */
public final class UnsupportedDatabaseException extends IllegalStateException {

    private static final long serialVersionUID = 1L;

    private static final String SUPPORTED = "MySQL 8.4+, MariaDB 10.11+, PostgreSQL 14+ and H2 2.x";

    private final String database;

    UnsupportedDatabaseException(String product, String version) {
        super(
                "Semaphores are not supported on %s %s. Supported are %s; name a DataSource on one of them with semaphore.datasource"
                        .formatted(product, version, SUPPORTED));
        this.database = product + " " + version;
    }

    /** Its product and version. */
    public String database() {
        return database;
    }

    /** The databases that are supported. */
    public String supported() {
        return SUPPORTED;
    }
}
