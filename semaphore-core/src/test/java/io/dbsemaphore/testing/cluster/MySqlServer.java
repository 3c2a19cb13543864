package io.dbsemaphore.testing.cluster;

import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.DatabaseServer;
import io.dbsemaphore.testing.TestDatabase;
import java.io.IOException;
import java.net.InetSocketAddress;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.slf4j.Logger;
import org.slf4j.LoggerFactory;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.Network;
import org.testcontainers.lifecycle.Startables;
import org.testcontainers.mysql.MySQLContainer;

/**
 * A MySQL server in a container that outlives it: the server can be killed, and started again with its data, name and
 * port.
 */
final class MySqlServer implements AutoCloseable {

    static final String USER = "root";
    static final String PASSWORD = "test";

    private static final Logger log = LoggerFactory.getLogger(MySqlServer.class);

    private static final int LONGEST_LOG = 20_000;
    private static final Duration LONGEST_START = Duration.ofSeconds(60);
    private static final String PID_FILE = "/var/lib/mysql/server.pid";

    /** Some images let the server execute a file at each start, which would be a transaction that the others do not know. */
    private static final String RUN_AGAIN_AND_AGAIN = """
            while :; do
              docker-entrypoint.sh mysqld "$@"
              until rm /tmp/start 2>/dev/null; do sleep 0.1; done
              : > /init.sql
            done""";

    private final String name;
    private final MySQLContainer container;
    private boolean killed;

    MySqlServer(String name, Network network, String... options) {
        this.name = name;
        container = new MySQLContainer("mysql:9.7")
                .withConfigurationOverride(null)
                .withUsername(USER)
                .withPassword(PASSWORD)
                .withNetwork(network)
                .withNetworkAliases(name)
                .withCreateContainerCmdModifier(
                        command -> command.withEntrypoint("sh", "-c", RUN_AGAIN_AND_AGAIN, "mysqld"))
                .withCommand(Stream.concat(
                                Stream.of(
                                        "--pid-file=" + PID_FILE,
                                        "--report-host=" + name,
                                        "--max-connections=200",
                                        "--gtid-mode=ON",
                                        "--enforce-gtid-consistency=ON"),
                                Stream.of(options))
                        .toArray(String[]::new));
    }

    /** Skips the test where no server can be started. */
    static void assumeDocker() {
        TestDatabase.assumeKind(DatabaseKind.MYSQL);
        Assumptions.assumeTrue(
                DockerClientFactory.instance().isDockerAvailable(),
                "No replication can be started here: no Docker engine answers");
    }

    /** Starts them, each with the data of a new server, so that none has to be copied from another one. */
    static void start(List<MySqlServer> servers) {
        Startables.deepStart(servers.stream().map(server -> server.container).toList())
                .join();
        servers.forEach(server -> server.execute("reset binary logs and gtids"));
    }

    /** As the other servers know it. */
    String name() {
        return name;
    }

    /** Where the tests reach it. */
    InetSocketAddress address() {
        return InetSocketAddress.createUnresolved(
                container.getHost(), container.getMappedPort(MySQLContainer.MYSQL_PORT));
    }

    DatabaseServer server(String how) {
        return new DatabaseServer(
                DatabaseKind.MYSQL, how, address().getHostString(), address().getPort(), USER, PASSWORD, () -> {});
    }

    String url(String database) {
        return DatabaseKind.MYSQL.url(address().getHostString(), address().getPort(), database);
    }

    /** By SIGKILL. */
    void kill() {
        inContainer("kill -9 $(cat " + PID_FILE + ")");
        killed = true;
    }

    /** Starts a killed server again, and waits until it answers. */
    void restart() {
        inContainer("touch /tmp/start");
        Awaitility.await("start of " + name)
                .atMost(LONGEST_START)
                .ignoreExceptions()
                .until(() -> "1".equals(text("select 1")));
        killed = false;
    }

    boolean isKilled() {
        return killed;
    }

    private void inContainer(String command) {
        try {
            var result = container.execInContainer("sh", "-c", command);
            if (result.getExitCode() != 0) {
                throw new IllegalStateException(command + " failed: " + result.getStderr());
            }
        } catch (IOException e) {
            throw new IllegalStateException(command, e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(command, e);
        }
    }

    String text(String query) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            return row.next() ? String.valueOf(row.getString(1)) : "";
        } catch (SQLException e) {
            throw new IllegalStateException(query, e);
        }
    }

    void execute(String... statements) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            for (String sql : statements) {
                statement.execute(sql);
            }
        } catch (SQLException e) {
            throw new IllegalStateException(String.join("; ", statements), e);
        }
    }

    Connection connect() throws SQLException {
        return DriverManager.getConnection(url(""), USER, PASSWORD);
    }

    /** Logs what the server has logged if it does not run, although nobody has killed it. */
    @Override
    public void close() {
        if (container.isRunning() && !killed && !answers()) {
            log.error("{} has ended by itself: {}", name, lastLines(container.getLogs()));
        }
        container.stop();
    }

    private boolean answers() {
        try {
            return "1".equals(text("select 1"));
        } catch (IllegalStateException unreachable) {
            return false;
        }
    }

    private static String lastLines(String text) {
        return text.substring(Math.max(0, text.length() - LONGEST_LOG));
    }
}
