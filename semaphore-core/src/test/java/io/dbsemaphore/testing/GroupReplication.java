package io.dbsemaphore.testing;

import io.dbsemaphore.testing.TestDatabase.Schema;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.testcontainers.DockerClientFactory;
import org.testcontainers.containers.Network;
import org.testcontainers.lifecycle.Startables;
import org.testcontainers.mysql.MySQLContainer;

/**
 * Three MySQL servers in containers that replicate to each other by Group Replication, in multi-primary mode: each is
 * written to, and finds out at a commit what the others have committed meanwhile. Where no Docker engine answers, the tests
 * that want it are skipped.
 */
public final class GroupReplication implements MultiPrimary {

    /** How many nodes there are. */
    public static final int SIZE = 3;

    private static final String DATABASE = "semaphore_test";
    private static final String PASSWORD = "test";
    private static final int GROUP_PORT = 33061;
    private static final int LONGEST_WAIT_SECONDS = 60;

    private final Network network = Network.newNetwork();
    private final List<MySQLContainer> nodes;
    private final List<Schema> schemas = new ArrayList<>();

    private GroupReplication() {
        String group = UUID.randomUUID().toString();
        nodes = IntStream.range(0, SIZE).mapToObj(node -> node(node, group)).toList();
    }

    /** Skips the test where it cannot be started. */
    private static void assumeDocker() {
        TestDatabase.assumeKind(DatabaseKind.MYSQL);
        Assumptions.assumeTrue(
                DockerClientFactory.instance().isDockerAvailable(),
                "No Group Replication can be started here: no Docker engine answers");
    }

    /** Starts the servers, with one empty database. */
    public static GroupReplication start() {
        assumeDocker();
        GroupReplication group = new GroupReplication();
        try {
            Startables.deepStart(group.nodes).join();
            group.form();
            group.createDatabase();
        } catch (RuntimeException failure) {
            group.stop();
            throw failure;
        }
        return group;
    }

    private MySQLContainer node(int node, String group) {
        return new MySQLContainer("mysql:9.7")
                .withConfigurationOverride(null)
                .withUsername("root")
                .withPassword(PASSWORD)
                .withNetwork(network)
                .withNetworkAliases(name(node))
                .withCommand(
                        "--server-id=" + (node + 1),
                        "--max-connections=200",
                        "--report-host=" + name(node),
                        "--replica-parallel-workers=1", // what another node has committed is applied in its order
                        "--gtid-mode=ON",
                        "--enforce-gtid-consistency=ON",
                        "--innodb-flush-log-at-trx-commit=0",
                        "--sync-binlog=0",
                        "--plugin-load-add=group_replication.so",
                        "--loose-group-replication-start-on-boot=OFF",
                        "--loose-group-replication-group-name=" + group,
                        "--loose-group-replication-local-address=" + address(node),
                        "--loose-group-replication-group-seeds="
                                + String.join(
                                        ",",
                                        IntStream.range(0, SIZE)
                                                .mapToObj(GroupReplication::address)
                                                .toList()),
                        "--loose-group-replication-recovery-get-public-key=ON",
                        "--loose-group-replication-single-primary-mode=OFF",
                        "--loose-group-replication-enforce-update-everywhere-checks=ON");
    }

    private static String name(int node) {
        return "node-" + node;
    }

    private static String address(int node) {
        return name(node) + ":" + GROUP_PORT;
    }

    /** Each begins with the same data, those of a new server, which nobody has to transfer. */
    private void form() {
        for (int node = 0; node < SIZE; node++) {
            execute(node, "reset binary logs and gtids");
            boolean first = node == 0;
            if (first) {
                execute(node, "set global group_replication_bootstrap_group = on");
            }
            execute(node, "start group_replication user = 'root', password = '" + PASSWORD + "'");
            if (first) {
                execute(node, "set global group_replication_bootstrap_group = off");
            }
            awaitOnline(node + 1);
        }
        server(0).announce();
    }

    private void awaitOnline(int members) {
        Awaitility.await("a group of " + members)
                .atMost(Duration.ofSeconds(LONGEST_WAIT_SECONDS))
                .until(() -> text(
                                0,
                                "select count(*) from performance_schema.replication_group_members"
                                        + " where member_state = 'ONLINE'")
                        .equals(String.valueOf(members)));
    }

    private DatabaseServer server(int node) {
        MySQLContainer container = nodes.get(node);
        return new DatabaseServer(
                DatabaseKind.MYSQL,
                "Group Replication of " + SIZE + " nodes",
                container.getHost(),
                container.getMappedPort(MySQLContainer.MYSQL_PORT),
                "root",
                PASSWORD,
                () -> {});
    }

    private void createDatabase() {
        schemas.add(server(0).create(DATABASE, true));
        execute(0, "create database brake");
        execute(0, "create table brake.brake (id int auto_increment primary key)");
        awaitInSync();
        for (int node = 1; node < SIZE; node++) {
            schemas.add(
                    new Schema(DatabaseKind.MYSQL, DATABASE, url(node, DATABASE), "root", PASSWORD, null, () -> {}));
        }
    }

    private String url(int node, String database) {
        DatabaseServer server = server(node);
        return DatabaseKind.MYSQL.url(server.host(), server.port(), database);
    }

    @Override
    public int size() {
        return SIZE;
    }

    @Override
    public Schema schema(int node) {
        return schemas.get(node);
    }

    @Override
    public void awaitInSync() {
        for (int from = 0; from < SIZE; from++) {
            String committed = text(from, "select @@global.gtid_executed");
            for (int node = 0; node < SIZE; node++) {
                String late = text(
                        node, "select wait_for_executed_gtid_set('%s', %d)".formatted(committed, LONGEST_WAIT_SECONDS));
                if (!"0".equals(late)) {
                    throw new IllegalStateException("Node %d does not come to %s".formatted(node, committed));
                }
            }
        }
    }

    /**
     * {@inheritDoc} Their commits are compared with what the others have committed nevertheless.
     */
    @Override
    public Brake holdBack(int node) {
        try {
            Connection connection = connect(node);
            try (Statement lock = connection.createStatement()) {
                lock.execute("lock tables brake.brake write");
            }
            execute((node + 1) % SIZE, "insert into brake.brake values ()"); // for this the node waits from now on
            return connection::close;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public long conflicts() {
        return Long.parseLong(
                text(0, "select sum(count_conflicts_detected) from performance_schema.replication_group_member_stats"));
    }

    /** From now on the first node makes a primary key for tables without one; a group does not let them be written to. */
    public void generatePrimaryKeys() {
        execute(0, "set global sql_generate_invisible_primary_key = on");
    }

    private String text(int node, String query) {
        try (Connection connection = connect(node);
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(query)) {
            row.next();
            return row.getString(1);
        } catch (SQLException e) {
            throw new IllegalStateException(query, e);
        }
    }

    private void execute(int node, String sql) {
        try (Connection connection = connect(node);
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(sql, e);
        }
    }

    private Connection connect(int node) throws SQLException {
        return DriverManager.getConnection(url(node, ""), "root", PASSWORD);
    }

    @Override
    public void close() {
        for (int i = schemas.size() - 1; i >= 0; i--) {
            schemas.get(i).close();
        }
        stop();
    }

    private void stop() {
        nodes.forEach(MySQLContainer::stop);
        network.close();
    }
}
