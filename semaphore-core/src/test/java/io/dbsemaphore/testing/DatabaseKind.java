package io.dbsemaphore.testing;

/** Which product a database is, and how it is spoken to. */
public enum DatabaseKind {
    MYSQL("MySQL", "select version()", "jdbc:mysql://%s:%d/%s?allowPublicKeyRetrieval=true&sslMode=DISABLED", ""),
    MARIADB("MariaDB", "select version()", "jdbc:mariadb://%s:%d/%s", ""),
    POSTGRESQL("PostgreSQL", "show server_version", "jdbc:postgresql://%s:%d/%s?sslmode=disable", "postgres"),
    H2("H2", "select h2version()", "jdbc:h2:mem:%3$s;DB_CLOSE_DELAY=-1", "version");

    private final String product;
    private final String versionQuery;
    private final String url;
    private final String maintenanceDatabase;

    DatabaseKind(String product, String versionQuery, String url, String maintenanceDatabase) {
        this.product = product;
        this.versionQuery = versionQuery;
        this.url = url;
        this.maintenanceDatabase = maintenanceDatabase;
    }

    /** Whether it is MySQL or MariaDB. */
    public boolean isMySqlFamily() {
        return this == MYSQL || this == MARIADB;
    }

    /** Whether it is reached over a network, so that a {@link TcpProxy} can stand before it. */
    public boolean isServer() {
        return this != H2;
    }

    String product() {
        return product;
    }

    String versionQuery() {
        return versionQuery;
    }

    String maintenanceDatabase() {
        return maintenanceDatabase;
    }

    /** The JDBC URL of a database. */
    public String url(String host, int port, String database) {
        return url.formatted(host, port, database);
    }
}
