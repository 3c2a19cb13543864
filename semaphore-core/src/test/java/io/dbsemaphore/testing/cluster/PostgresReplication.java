package io.dbsemaphore.testing.cluster;

import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import java.io.IOException;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.GenericContainer;
import org.testcontainers.containers.Network;
import org.testcontainers.containers.wait.strategy.Wait;
import org.testcontainers.postgresql.PostgreSQLContainer;

/**
 * A PostgreSQL primary and its standby in containers. Where no Docker engine answers, the tests that want them are skipped.
 */
public final class PostgresReplication implements Replication {

    private static final String DATABASE = "semaphore_test";
    private static final String PASSWORD = "test";
    private static final int PORT = PostgreSQLContainer.POSTGRESQL_PORT;
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);

    /** Copies the primary, and follows it. */
    private static final String FOLLOW = """
            umask 077
            bin=/usr/lib/postgresql/17/bin
            until $bin/pg_basebackup -d 'host=primary user=postgres password=test' -D /tmp/standby -R -X stream; do
              rm -rf /tmp/standby
              sleep 0.2
            done
            exec $bin/postgres -D /tmp/standby -c listen_addresses='*' -c unix_socket_directories=/tmp""";

    private final Network network = Network.newNetwork();
    private final PostgreSQLContainer primary = new PostgreSQLContainer("postgres:17")
            .withUsername("postgres")
            .withPassword(PASSWORD)
            .withDatabaseName(DATABASE)
            .withNetwork(network)
            .withNetworkAliases("primary")
            .withCommand("postgres");

    @SuppressWarnings("resource") // closed with this
    private final GenericContainer<?> standby = new GenericContainer<>("postgres:17")
            .withNetwork(network)
            .withExposedPorts(PORT)
            .withCreateContainerCmdModifier(
                    command -> command.withEntrypoint("sh", "-c", FOLLOW).withUser("postgres"))
            .waitingFor(Wait.forLogMessage(".*ready to accept read-only connections.*", 1));

    private PostgresReplication() {}

    /**
     * Starts them, with one empty database.
     *
     * @param synchronous whether a commit waits for the standby
     */
    public static PostgresReplication start(boolean synchronous) {
        TestDatabase.assumeKind(DatabaseKind.POSTGRESQL);
        Assumptions.assumeTrue(
                DockerClientFactory.instance().isDockerAvailable(),
                "No replication can be started here: no Docker engine answers");
        PostgresReplication servers = new PostgresReplication();
        try {
            servers.form(synchronous);
        } catch (IOException | InterruptedException | RuntimeException failure) {
            servers.close();
            throw new IllegalStateException("The replication cannot be started", failure);
        }
        return servers;
    }

    private void form(boolean synchronous) throws IOException, InterruptedException {
        primary.start();
        primary.execInContainer(
                "sh", "-c", "echo 'host replication all all scram-sha-256' >> /var/lib/postgresql/data/pg_hba.conf");
        execute(primary, "select pg_reload_conf()");
        standby.start();
        if (synchronous) {
            execute(primary, "alter system set synchronous_standby_names = '*'");
            execute(primary, "select pg_reload_conf()");
        }
        awaitReplication(synchronous ? "sync" : "async");
    }

    private void awaitReplication(String state) {
        Awaitility.await(state + " replication")
                .atMost(LONGEST_WAIT)
                .ignoreExceptions()
                .until(() -> text(primary, "select sync_state from pg_stat_replication where state = 'streaming'")
                        .equals(state));
    }

    @Override
    public Schema schema() {
        String url = "jdbc:postgresql://%s:%d,%s:%d/%s?targetServerType=primary&hostRecheckSeconds=0&connectTimeout=2"
                .formatted(
                        primary.getHost(),
                        primary.getMappedPort(PORT),
                        standby.getHost(),
                        standby.getMappedPort(PORT),
                        DATABASE);
        return new Schema(DatabaseKind.POSTGRESQL, DATABASE, url, "postgres", PASSWORD, null, () -> {});
    }

    @Override
    public void cutOff() {
        execute(standby, "alter system set primary_conninfo = ''");
        execute(standby, "select pg_reload_conf()");
        Awaitility.await("the standby to be cut off")
                .atMost(LONGEST_WAIT)
                .until(() -> text(primary, "select count(*) from pg_stat_replication")
                        .equals("0"));
    }

    /** {@inheritDoc} So a container is stopped. */
    @Override
    public void killPrimary() {
        primary.stop();
    }

    @Override
    public void promote() {
        execute(standby, "select pg_promote(true, 60)");
    }

    private static String text(GenericContainer<?> server, String query) {
        try (Connection connection = connect(server);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            return row.next() ? row.getString(1) : "";
        } catch (SQLException e) {
            throw new IllegalStateException(query, e);
        }
    }

    private static void execute(GenericContainer<?> server, String sql) {
        try (Connection connection = connect(server);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    private static Connection connect(GenericContainer<?> server) throws SQLException {
        return DriverManager.getConnection(
                "jdbc:postgresql://%s:%d/%s".formatted(server.getHost(), server.getMappedPort(PORT), DATABASE),
                "postgres",
                PASSWORD);
    }

    @Override
    public void close() {
        standby.stop();
        primary.stop();
        network.close();
    }
}
