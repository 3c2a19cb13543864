package io.dbsemaphore.testing.cluster;

import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.DatabaseServer;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.assertj.core.api.Assertions;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.util.FileSystemUtils;

/**
 * Two MariaDB servers that replicate to each other by Galera, of Debian's packages, on ports of the loopback interface:
 * each is written to, and finds out at a commit what the other has committed meanwhile. Where the packages are not
 * installed, the tests that want it are skipped and say which these are.
 */
public final class GaleraCluster implements MultiPrimary {

    /** How many nodes there are. */
    public static final int SIZE = 2;

    private static final String PACKAGES = "mariadb-server-core mariadb-client-core galera-4";
    private static final Duration SOON = Duration.ofMinutes(1);
    private static final AtomicInteger STARTED = new AtomicInteger();

    private final Path directory;
    private final List<GaleraNode> nodes = new ArrayList<>();
    private final List<Schema> schemas = new ArrayList<>();
    private final Thread stopping = new Thread(this::stop, "stop-galera");

    private GaleraCluster(Path directory) {
        this.directory = directory;
    }

    /** Skips the test where it cannot be started. */
    private static void assumeInstalled() {
        TestDatabase.assumeKind(
                DatabaseKind.MYSQL, DatabaseKind.MARIADB); // no need to repeat it beside other databases
        boolean installed = Stream.of(
                        GaleraNode.SERVER,
                        GaleraNode.PROVIDER,
                        Path.of("/usr/bin/mariadb-install-db"),
                        Path.of("/usr/bin/my_print_defaults"))
                .allMatch(Files::exists);
        Assumptions.assumeTrue(
                installed,
                "No Galera cluster can be started here. On Debian: apt-get install --no-install-recommends "
                        + PACKAGES);
    }

    /** Starts the servers, with one database that has the tables of the library. */
    public static GaleraCluster start() {
        assumeInstalled();
        Path target = Path.of(System.getProperty("basedir", ""), "target").toAbsolutePath();
        GaleraCluster cluster = new GaleraCluster(
                target.resolve("galera-%d-%d".formatted(ProcessHandle.current().pid(), STARTED.incrementAndGet())));
        Runtime.getRuntime().addShutdownHook(cluster.stopping);
        try {
            cluster.startNodes();
            cluster.createDatabase();
        } catch (RuntimeException failure) {
            cluster.stop(); // what the servers have logged is left to be read
            throw failure;
        }
        return cluster;
    }

    private void startNodes() {
        int[] ports = freePorts(3 * SIZE);
        try {
            for (int i = 0; i < SIZE; i++) {
                Path home = Files.createDirectories(directory.resolve("node-" + i));
                nodes.add(new GaleraNode(home, ports[3 * i], ports[3 * i + 1], ports[3 * i + 2]));
            }
            GaleraNode.install(nodes.get(0).data());
            for (GaleraNode other : nodes.subList(1, SIZE)) {
                FileSystemUtils.copyRecursively(nodes.get(0).data(), other.data());
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        String address = "gcomm://"
                + String.join(",", nodes.stream().map(GaleraNode::groupAddress).toList());
        GaleraNode first = nodes.get(0);
        first.start(address, "--wsrep-new-cluster");
        first.awaitSynced(1);
        for (int i = 1; i < SIZE; i++) {
            nodes.get(i).beginAt(first.status());
            nodes.get(i).start(address);
            nodes.get(i).awaitSynced(i + 1);
        }
        first.awaitSynced(SIZE);
        server(0).announce();
    }

    private DatabaseServer server(int node) {
        return new DatabaseServer(
                DatabaseKind.MARIADB,
                "a Galera cluster of " + SIZE + " nodes",
                "127.0.0.1",
                nodes.get(node).port(),
                "root",
                "",
                () -> {});
    }

    private void createDatabase() {
        schemas.add(server(0).create("semaphore_test", true).migrate());
        execute(0, "create table semaphore_test.brake (id int auto_increment primary key)");
        awaitInSync();
        for (int i = 1; i < SIZE; i++) {
            String url = DatabaseKind.MARIADB.url("127.0.0.1", nodes.get(i).port(), "semaphore_test");
            schemas.add(new Schema(DatabaseKind.MARIADB, "semaphore_test", url, "root", "", null, () -> {}));
        }
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
        long committed = nodes.stream()
                .mapToLong(node -> number(node, "wsrep_last_committed"))
                .max()
                .orElseThrow();
        Awaitility.await("all nodes at " + committed)
                .atMost(SOON)
                .pollInterval(Duration.ofMillis(20))
                .until(() -> nodes.stream().allMatch(node -> number(node, "wsrep_last_committed") >= committed));
    }

    @Override
    public long conflicts() {
        return nodes.stream()
                .mapToLong(node -> number(node, "wsrep_local_cert_failures") + number(node, "wsrep_local_bf_aborts"))
                .sum();
    }

    private static long number(GaleraNode node, String name) {
        return Long.parseLong(String.valueOf(node.status().get(name)));
    }

    /**
     * {@inheritDoc} They wait in their commits for their turn.
     */
    @Override
    public Brake holdBack(int node) {
        try {
            Connection connection = nodes.get(node).connect();
            try (Statement lock = connection.createStatement()) {
                lock.execute("lock tables semaphore_test.brake write");
            }
            execute(1 - node, "insert into semaphore_test.brake values ()"); // for this the node waits from now on
            return connection::close;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Waits until a transaction that a client of this node commits is where only what it wrote counts any more. */
    public void awaitCommit(int node) {
        JdbcTemplate jdbc = schema(node).jdbc();
        Awaitility.await("a commit that waits for its turn")
                .atMost(SOON)
                .pollInterval(Duration.ofMillis(50))
                .untilAsserted(() -> Assertions.assertThat(jdbc.queryForList(
                                "select state from information_schema.processlist where info = 'commit'", String.class))
                        .contains("Waiting for certification"));
    }

    private void execute(int node, String sql) {
        try (Connection connection = nodes.get(node).connect();
                Statement statement = connection.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        for (int i = schemas.size() - 1; i >= 0; i--) {
            schemas.get(i).close();
        }
        stop();
        Runtime.getRuntime().removeShutdownHook(stopping);
        DatabaseServer.delete(directory);
    }

    private synchronized void stop() {
        for (int i = nodes.size() - 1; i >= 0; i--) {
            nodes.get(i).stop();
        }
    }

    /** Below those that Linux gives to other programs before the servers take them. */
    private static int[] freePorts(int count) {
        return ThreadLocalRandom.current()
                .ints(10_000, 32_768)
                .distinct()
                .filter(GaleraCluster::isFree)
                .limit(count)
                .toArray();
    }

    private static boolean isFree(int port) {
        try (ServerSocket socket = new ServerSocket(port, 1, InetAddress.getLoopbackAddress())) {
            return socket.isBound();
        } catch (IOException taken) {
            return false;
        }
    }
}
