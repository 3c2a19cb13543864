package io.dbsemaphore.samples.benchmark.database;

import org.testcontainers.mysql.MySQLContainer;

/** A MySQL of Testcontainers with the settings of its image: full durability. */
public final class DatabaseContainer implements AutoCloseable {

    private static final String IMAGE = "mysql:9.7";

    private final MySQLContainer container = new MySQLContainer(IMAGE)
            .withConfigurationOverride(null)
            .withUsername("root")
            .withPassword("benchmark")
            .withDatabaseName("benchmark")
            .withCommand("--max-connections=300");

    /** Starts it. */
    public DatabaseContainer() {
        container.start();
    }

    /** Where it is. */
    public Target target() {
        return new Target(container.getJdbcUrl(), container.getUsername(), container.getPassword());
    }

    @Override
    public void close() {
        container.stop();
    }
}
