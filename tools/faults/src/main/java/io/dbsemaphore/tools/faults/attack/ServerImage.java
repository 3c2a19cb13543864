package io.dbsemaphore.tools.faults.attack;

import java.util.List;
import org.testcontainers.containers.JdbcDatabaseContainer;
import org.testcontainers.mariadb.MariaDBContainer;
import org.testcontainers.mysql.MySQLContainer;
import org.testcontainers.postgresql.PostgreSQLContainer;

/**
 * A server that can be started in a container, with the settings of its image: full durability. It writes a log in which the
 * commits can be read.
 *
 * @param port inside the container
 * @param url with places for the host, the port and the database
 * @param data the directory in the container
 * @param program the server in the container, where it can be given a clock of its own; otherwise empty
 * @param grant the command by which the user may read the log; empty if it may
 */
record ServerImage(
        JdbcDatabaseContainer<?> container, int port, String url, String data, String program, List<String> grant) {

    private static final String CONNECTIONS = "300";
    static final String NAME = "faults";

    /** @throws IllegalArgumentException for another product than {@code mysql}, {@code mariadb} and {@code postgresql} */
    static ServerImage of(String product) {
        return switch (product) {
            case "mysql" ->
                new ServerImage(
                        new MySQLContainer("mysql:9.7")
                                .withConfigurationOverride(null)
                                .withUsername("root")
                                .withCommand("--max-connections=" + CONNECTIONS),
                        MySQLContainer.MYSQL_PORT,
                        "jdbc:mysql://%s:%d/%s?allowPublicKeyRetrieval=true&sslMode=DISABLED",
                        "/var/lib/mysql",
                        "/usr/sbin/mysqld",
                        List.of());
            case "mariadb" ->
                new ServerImage(
                        new MariaDBContainer("mariadb:11.8")
                                .withConfigurationOverride(null)
                                .withUsername(NAME)
                                .withCommand(
                                        "--max-connections=" + CONNECTIONS,
                                        "--log-bin=binlog",
                                        "--binlog-format=ROW",
                                        "--sync-binlog=1"),
                        MySQLContainer.MYSQL_PORT,
                        "jdbc:mariadb://%s:%d/%s",
                        "/var/lib/mysql",
                        "/usr/sbin/mariadbd",
                        List.of(
                                "sh",
                                "-c",
                                // The administrator has this password, or none and is known by the user of the system
                                "echo 'grant replication slave, binlog monitor on *.* to %1$s' > /tmp/grant.sql;"
                                                .formatted(NAME)
                                        + " mariadb -uroot -p%s < /tmp/grant.sql || mariadb -uroot < /tmp/grant.sql"
                                                .formatted(NAME)));
            // Without server-side preparation, so that commits are seen on the wire
            case "postgresql" ->
                new ServerImage(
                        new PostgreSQLContainer("postgres:17")
                                .withCommand(
                                        "postgres", "-c", "max_connections=" + CONNECTIONS, "-c", "wal_level=logical"),
                        PostgreSQLContainer.POSTGRESQL_PORT,
                        "jdbc:postgresql://%s:%d/%s?sslmode=disable&prepareThreshold=0",
                        "/var/lib/postgresql/data",
                        "",
                        List.of());
            default -> throw new IllegalArgumentException("--database takes mysql, mariadb or postgresql: " + product);
        };
    }
}
