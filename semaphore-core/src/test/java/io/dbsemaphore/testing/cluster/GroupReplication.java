package io.dbsemaphore.testing.cluster;

import static java.util.Objects.requireNonNull;

import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.TestDatabase.Schema;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.UUID;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.testcontainers.containers.Network;

/**
 * Three MySQL servers in containers that replicate to each other by Group Replication. In multi-primary mode each is written
 * to, and finds out at a commit what the others have committed meanwhile. In single-primary mode one is, which they elect;
 * HAProxy before them leads to it. Where no Docker engine answers or HAProxy is not installed, the tests that want it are
 * skipped.
 */
public final class GroupReplication implements MultiPrimary {

    /** How many nodes there are. */
    public static final int SIZE = 3;

    private static final String DATABASE = "semaphore_test";
    private static final int GROUP_PORT = 33061;
    private static final int LONGEST_WAIT_SECONDS = 60;

    private final Network network = Network.newNetwork();
    private final List<MySqlServer> nodes;
    private final List<Schema> schemas = new ArrayList<>();
    private @Nullable HaProxy router;

    private GroupReplication(String... options) {
        String group = UUID.randomUUID().toString();
        nodes = IntStream.range(0, SIZE)
                .mapToObj(node -> node(node, group, options))
                .toList();
    }

    /** Starts the servers, all of which are written to, with one empty database. */
    public static GroupReplication start() {
        MySqlServer.assumeDocker();
        GroupReplication group = new GroupReplication(
                "--innodb-flush-log-at-trx-commit=0",
                "--sync-binlog=0",
                "--loose-group-replication-single-primary-mode=OFF",
                "--loose-group-replication-enforce-update-everywhere-checks=ON");
        group.form(group::createDatabase);
        return group;
    }

    /** Starts the servers, the first of which is the primary, with one empty database. */
    public static GroupReplication startWithOnePrimary() {
        MySqlServer.assumeDocker();
        HaProxy.assumeInstalled();
        GroupReplication group = new GroupReplication();
        group.form(() -> {
            group.execute(0, "create database " + DATABASE);
            group.router = HaProxy.before(group.nodes);
            // one that starts again is not written to before it has joined the group
            group.nodes.forEach(node -> node.execute("set persist_only super_read_only = on"));
        });
        return group;
    }

    private MySqlServer node(int node, String group, String... options) {
        List<String> all = new ArrayList<>(List.of(
                "--server-id=" + (node + 1),
                "--replica-parallel-workers=1", // what another node has committed is applied in its order
                "--plugin-load-add=group_replication.so",
                "--loose-group-replication-start-on-boot=OFF",
                "--loose-group-replication-group-name=" + group,
                "--loose-group-replication-local-address=" + address(node),
                "--loose-group-replication-group-seeds="
                        + IntStream.range(0, SIZE)
                                .mapToObj(GroupReplication::address)
                                .collect(Collectors.joining(",")),
                "--loose-group-replication-recovery-get-public-key=ON"));
        all.addAll(List.of(options));
        return new MySqlServer(name(node), network, all.toArray(String[]::new));
    }

    private static String name(int node) {
        return "node-" + node;
    }

    private static String address(int node) {
        return name(node) + ":" + GROUP_PORT;
    }

    private void form(Runnable next) {
        try {
            MySqlServer.start(nodes);
            nodes.get(0).execute("set global group_replication_bootstrap_group = on");
            join(0);
            nodes.get(0).execute("set global group_replication_bootstrap_group = off");
            for (int node = 1; node < SIZE; node++) {
                join(node);
            }
            nodes.get(0).server("Group Replication of " + SIZE + " nodes").announce();
            next.run();
        } catch (RuntimeException failure) {
            stop();
            throw failure;
        }
    }

    /** Lets a server join the group, and waits until it has what the others have committed. */
    private void join(int node) {
        nodes.get(node)
                .execute("start group_replication user = '%s', password = '%s'"
                        .formatted(MySqlServer.USER, MySqlServer.PASSWORD));
        Awaitility.await("a group with node " + node)
                .atMost(Duration.ofSeconds(LONGEST_WAIT_SECONDS))
                .until(() -> text(
                                node,
                                "select member_state from performance_schema.replication_group_members"
                                        + " where member_id = @@server_uuid")
                        .equals("ONLINE"));
    }

    private void createDatabase() {
        schemas.add(nodes.get(0).server("").create(DATABASE, true));
        createBrake();
        for (int node = 1; node < SIZE; node++) {
            schemas.add(new Schema(
                    DatabaseKind.MYSQL,
                    DATABASE,
                    nodes.get(node).url(DATABASE),
                    MySqlServer.USER,
                    MySqlServer.PASSWORD,
                    null,
                    () -> {}));
        }
    }

    private void createBrake() {
        nodes.get(0).execute("create database brake", "create table brake.brake (id int auto_increment primary key)");
        awaitInSync();
    }

    /** With one primary: the database as it is reached there, whichever server that is. */
    public Schema schema() {
        return requireNonNull(router).schema(DATABASE);
    }

    /** With one primary: which of the servers it is, as the first says that runs. */
    public int primary() {
        String host = nodes.stream()
                .filter(node -> !node.isKilled())
                .findFirst()
                .orElseThrow()
                .text("select member_host from performance_schema.replication_group_members"
                        + " where member_role = 'PRIMARY' and member_state = 'ONLINE'");
        return IntStream.range(0, SIZE)
                .filter(node -> name(node).equals(host))
                .findFirst()
                .orElse(-1);
    }

    /** With one primary: makes another one of this server, which waits for what is under way. */
    public void makePrimary(int node) {
        execute(node, "select group_replication_set_as_primary(@@server_uuid)");
    }

    /** Kills a server by SIGKILL. */
    public void kill(int node) {
        nodes.get(node).kill();
    }

    /** Starts a killed server, and lets it join the group again. */
    public void rejoin(int node) {
        nodes.get(node).restart();
        join(node);
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
            Connection connection = nodes.get(node).connect();
            try (Statement lock = connection.createStatement()) {
                lock.execute("lock tables brake.brake read");
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
        return nodes.get(node).text(query);
    }

    private void execute(int node, String sql) {
        nodes.get(node).execute(sql);
    }

    @Override
    public void close() {
        for (int i = schemas.size() - 1; i >= 0; i--) {
            schemas.get(i).close();
        }
        stop();
    }

    private void stop() {
        if (router != null) {
            router.close();
        }
        nodes.forEach(MySqlServer::close);
        network.close();
    }
}
