package io.dbsemaphore.testing.cluster;

import io.dbsemaphore.testing.DatabaseKind;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;

/** One server of a {@link GaleraCluster}. */
final class GaleraNode {

    static final Path SERVER = Path.of("/usr/sbin/mariadbd");
    static final Path PROVIDER = Path.of("/usr/lib/galera/libgalera_smm.so");

    private static final Duration LONGEST_START = Duration.ofMinutes(3);
    private static final Duration LONGEST_STOP = Duration.ofSeconds(30);

    private final Path data;
    private final Path log;
    private final int port;
    private final int groupPort;
    private final int transferPort;
    private @Nullable Process process;

    GaleraNode(Path directory, int port, int groupPort, int transferPort) {
        this.data = directory.resolve("data");
        this.log = directory.resolve("log");
        this.port = port;
        this.groupPort = groupPort;
        this.transferPort = transferPort;
    }

    Path data() {
        return data;
    }

    int port() {
        return port;
    }

    String groupAddress() {
        return "127.0.0.1:" + groupPort;
    }

    void start(String clusterAddress, String... more) {
        List<String> command = new ArrayList<>(List.of(
                SERVER.toString(),
                "--no-defaults",
                "--datadir=" + data,
                "--socket=server.sock", // in the data directory, whose path may be too long for a socket's
                "--pid-file=server.pid",
                "--bind-address=127.0.0.1",
                "--port=" + port,
                "--max-connections=200",
                "--binlog-format=ROW",
                "--innodb-autoinc-lock-mode=2",
                "--innodb-flush-log-at-trx-commit=0",
                "--innodb-log-file-size=64M",
                "--innodb-buffer-pool-size=128M",
                "--wsrep-on=ON",
                "--wsrep-provider=" + PROVIDER,
                "--wsrep-cluster-name=semaphore-tests",
                "--wsrep-cluster-address=" + clusterAddress,
                "--wsrep-node-address=" + groupAddress(),
                "--wsrep-sst-method=skip",
                "--wsrep-slave-threads=1", // what another node has committed is applied in its order
                // no network divides these two, but a busy machine may make one of them late
                "--wsrep-provider-options=" + "base_host=127.0.0.1;base_port=" + groupPort
                        + ";gmcast.listen_addr=tcp://" + groupAddress()
                        + ";ist.recv_addr=127.0.0.1:" + transferPort
                        + ";gcache.size=64M;evs.suspect_timeout=PT60S;evs.inactive_timeout=PT120S"
                        + ";evs.install_timeout=PT60S"));
        if ("root".equals(System.getProperty("user.name"))) {
            command.add("--user=root");
        }
        command.addAll(List.of(more));
        try {
            process = new ProcessBuilder(command)
                    .redirectErrorStream(true)
                    .redirectOutput(ProcessBuilder.Redirect.appendTo(log.toFile()))
                    .start();
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Waits until it works together with so many nodes, itself among them. */
    void awaitSynced(int nodes) {
        Awaitility.await("a Galera cluster of " + nodes + ", of which this is what a node says: " + log)
                .atMost(LONGEST_START)
                .pollInterval(Duration.ofMillis(200))
                .failFast("the server has ended, see " + log, () -> process == null || !process.isAlive())
                .ignoreExceptions()
                .until(() -> {
                    Map<String, String> status = status();
                    return "Synced".equals(status.get("wsrep_local_state_comment"))
                            && String.valueOf(nodes).equals(status.get("wsrep_cluster_size"));
                });
    }

    /** What the server says about the cluster. */
    Map<String, String> status() {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet rows = statement.executeQuery("show global status like 'wsrep_%'")) {
            Map<String, String> status = new HashMap<>();
            while (rows.next()) {
                status.put(rows.getString(1), rows.getString(2));
            }
            return status;
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /**
     * Before its first start: its data are those of the first node at this moment, as they were installed, so that
     * nothing needs to be transferred.
     */
    void beginAt(Map<String, String> statusOfFirst) {
        try {
            Files.writeString(data.resolve("grastate.dat"), """
                    # GALERA saved state
                    version: 2.1
                    uuid:    %s
                    seqno:   %s
                    safe_to_bootstrap: 0
                    """.formatted(
                            statusOfFirst.get("wsrep_cluster_state_uuid"), statusOfFirst.get("wsrep_last_committed")));
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    Connection connect() throws SQLException {
        return DriverManager.getConnection(DatabaseKind.MARIADB.url("127.0.0.1", port, ""), "root", "");
    }

    void stop() {
        Process started = process;
        if (started == null) {
            return;
        }
        started.destroy();
        try {
            if (!started.waitFor(LONGEST_STOP.toSeconds(), TimeUnit.SECONDS)) {
                started.destroyForcibly().waitFor(LONGEST_STOP.toSeconds(), TimeUnit.SECONDS);
            }
        } catch (InterruptedException e) {
            started.destroyForcibly();
            Thread.currentThread().interrupt();
        }
    }

    /** Makes a data directory as Debian's packages would. */
    static void install(Path data) {
        List<String> command = new ArrayList<>(List.of(
                "/usr/bin/mariadb-install-db",
                "--no-defaults",
                "--datadir=" + data,
                "--auth-root-authentication-method=normal",
                "--skip-test-db"));
        if ("root".equals(System.getProperty("user.name"))) {
            command.add("--user=root");
        }
        try {
            Process install =
                    new ProcessBuilder(command).redirectErrorStream(true).start();
            String said = new String(install.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
            if (install.waitFor() != 0) {
                throw new IllegalStateException("mariadb-install-db failed: " + said);
            }
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }
}
