package io.dbsemaphore.testing.cluster;

import static java.util.Objects.requireNonNull;

import io.dbsemaphore.testing.TestDatabase.Schema;
import java.time.Duration;
import java.util.List;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.testcontainers.containers.Network;

/**
 * A MySQL server, its replica, and HAProxy before them. Where no Docker engine answers or HAProxy is not installed, the tests
 * that want them are skipped.
 */
public final class MySqlReplication implements Replication {

    private static final String DATABASE = "semaphore_test";
    private static final Duration LONGEST_WAIT = Duration.ofSeconds(60);

    private final Network network = Network.newNetwork();
    private final MySqlServer primary = server("primary", 1);
    private final MySqlServer replica = server("replica", 2);
    private @Nullable HaProxy router;

    private MySqlReplication() {}

    private MySqlServer server(String name, int id) {
        return new MySqlServer(
                name, network, "--server-id=" + id, "--plugin-load-add=semisync_source.so;semisync_replica.so");
    }

    /**
     * Starts them.
     *
     * @param semiSynchronous whether a commit waits until the replica has received it, before others see it
     */
    public static MySqlReplication start(boolean semiSynchronous) {
        MySqlServer.assumeDocker();
        HaProxy.assumeInstalled();
        MySqlReplication servers = new MySqlReplication();
        try {
            servers.form(semiSynchronous);
        } catch (RuntimeException failure) {
            servers.close();
            throw failure;
        }
        return servers;
    }

    private void form(boolean semiSynchronous) {
        MySqlServer.start(List.of(primary, replica));
        replica.execute(
                "set global rpl_semi_sync_replica_enabled = " + semiSynchronous,
                "change replication source to source_host = '%s', source_user = '%s', source_password = '%s',"
                                .formatted(primary.name(), MySqlServer.USER, MySqlServer.PASSWORD)
                        + " source_auto_position = 1, get_source_public_key = 1",
                "start replica",
                "set global super_read_only = on");
        Awaitility.await("a replica")
                .atMost(LONGEST_WAIT)
                .until(() -> replica.text("select service_state from performance_schema.replication_connection_status")
                        .equals("ON"));
        if (semiSynchronous) {
            primary.execute(
                    "set global rpl_semi_sync_source_wait_for_replica_count = 1",
                    "set global rpl_semi_sync_source_wait_point = AFTER_SYNC",
                    "set global rpl_semi_sync_source_timeout = 3600000", // never asynchronously instead
                    "set global rpl_semi_sync_source_enabled = on");
            Awaitility.await("a semi-synchronous replica")
                    .atMost(LONGEST_WAIT)
                    .until(() -> status("Rpl_semi_sync_source_clients").equals("1"));
        }
        primary.server((semiSynchronous ? "semi-synchronous" : "asynchronous") + " replication")
                .announce();
        primary.execute("create database " + DATABASE);
        router = HaProxy.before(List.of(primary, replica));
    }

    private String status(String variable) {
        return primary.text(
                "select variable_value from performance_schema.global_status where variable_name = '" + variable + "'");
    }

    @Override
    public Schema schema() {
        return requireNonNull(router).schema(DATABASE);
    }

    @Override
    public void cutOff() {
        replica.execute("stop replica io_thread");
    }

    @Override
    public void killPrimary() {
        primary.kill();
    }

    /** {@inheritDoc} What it has received it applies before. */
    @Override
    public void promote() {
        replica.execute("stop replica io_thread");
        String received =
                replica.text("select received_transaction_set from performance_schema.replication_connection_status");
        String late = replica.text(
                "select wait_for_executed_gtid_set('%s', %d)".formatted(received, LONGEST_WAIT.toSeconds()));
        if (!"0".equals(late)) {
            throw new IllegalStateException("The replica has not applied " + received);
        }
        replica.execute(
                "stop replica", "reset replica all", "set global super_read_only = off", "set global read_only = off");
    }

    @Override
    public void close() {
        if (router != null) {
            router.close();
        }
        replica.close();
        primary.close();
        network.close();
    }
}
