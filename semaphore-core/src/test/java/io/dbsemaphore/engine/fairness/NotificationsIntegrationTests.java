package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireFuture;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.postgresql.PGConnection;

/** Instances that notify one another of releases. */
@EnabledOnDatabase(DatabaseKind.POSTGRESQL)
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class NotificationsIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final Duration LONG = Duration.ofSeconds(40);
    private static final String CHANNEL = "semaphore_released";

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private static Node silentHolder;
    private static Node pollingWaiter;
    private static Node holder;
    private static Node waiter;

    @BeforeAll
    static void startNodes() {
        SemaphoreSettings settings = TestSettings.defaults().with(SemaphoreSettings.NOTIFICATIONS, true);
        SemaphoreSettings without = settings.with(SemaphoreSettings.NOTIFICATIONS, false);
        silentHolder = Node.on(cluster.schema(), without);
        pollingWaiter = Node.on(cluster.schema(), without);
        holder = Node.on(cluster.schema(), settings);
        waiter = Node.on(cluster.schema(), settings);
    }

    @AfterAll
    static void closeNodes() {
        waiter.close();
        holder.close();
        pollingWaiter.close();
        silentHolder.close();
    }

    /** Both times the callers have waited so long that they poll every tenth of a second. */
    @Measured
    @Test
    void handOverSoonerThanByPolling() throws Exception {
        String name = cluster.semaphore(1);
        List<Long> notified = new ArrayList<>();
        List<Long> polled = new ArrayList<>();
        for (int i = 0; i < 11; i++) {
            notified.add(handOver(name, holder, waiter));
            polled.add(handOver(name, silentHolder, pollingWaiter));
        }

        Measurement.check(() -> assertThat(median(notified)).isLessThan(median(polled) * 3 / 4));
    }

    @Test
    void tellNobodyWhereNobodyWaits() throws Exception {
        String name = cluster.semaphore(2);
        PermitGrant first = holder.semaphores().acquire(AcquireRequest.of(name));
        PermitGrant second = holder.semaphores().acquire(AcquireRequest.of(name));
        try (HikariDataSource pool = cluster.schema().newPool(1);
                Connection connection = pool.getConnection()) {
            listen(connection);
            first.release();
            assertThat(notifications(connection, 300)).isEqualTo(0);

            PermitGrant all = holder.semaphores().acquire(AcquireRequest.of(name));
            CompletableFuture<PermitGrant> waiting =
                    waiter.semaphores().acquireAsync(AcquireRequest.of(name).withWaitTime(LONG));
            awaitRecords(name);
            second.release();

            assertThat(notifications(connection, 5_000)).isEqualTo(1);
            PermitGrant handedOver = waiting.join();
            handedOver.release();
            all.release();
        }
    }

    @Test
    void returnTheConnectionSoonAfterTheLastCallerHasWaited() throws Exception {
        handOver(cluster.semaphore(1), holder, waiter);

        await().atMost(SOON).untilAsserted(() -> assertThat(listeners()).isEqualTo(0));
    }

    @Test
    void listenAgainWhenTheServerHasEndedTheConnection() throws Exception {
        String name = cluster.semaphore(1);
        PermitGrant held = holder.semaphores().acquire(AcquireRequest.of(name));
        CompletableFuture<PermitGrant> waiting =
                waiter.semaphores().acquireAsync(AcquireRequest.of(name).withWaitTime(LONG));
        await().atMost(SOON).until(() -> listeners() > 0);

        cluster.schema()
                .jdbc()
                .queryForList("select pg_terminate_backend(pid) from pg_stat_activity where query = 'listen " + CHANNEL
                        + "'");

        await().atMost(SOON).until(() -> listeners() > 0);
        held.release();
        assertThat(waiting).succeedsWithin(SOON).satisfies(PermitGrant::release);
    }

    /** Another caller goes on waiting, so that the instance would go on listening. */
    @Test
    void leaveTheOnlyConnectionOfAPoolToTransactions() throws Exception {
        List<String> names = cluster.semaphores(2, 1);
        List<PermitGrant> held = names.stream()
                .map(name -> holder.semaphores().acquire(AcquireRequest.of(name)))
                .toList();
        try (HikariDataSource pool = cluster.schema().newPool(1);
                Node small = new Node(pool, TestSettings.defaults().with(SemaphoreSettings.NOTIFICATIONS, true))) {
            List<AcquireFuture> waiting = names.stream()
                    .map(name -> small.semaphores()
                            .acquireAsync(AcquireRequest.of(name).withWaitTime(LONG)))
                    .toList();
            await().atMost(SOON).until(() -> listeners() > 0);

            held.get(0).release();

            assertThat(waiting.get(0)).succeedsWithin(SOON).satisfies(PermitGrant::release);
            assertThat(small.jdbc().queryForObject("select 1", Integer.class)).isEqualTo(1);
            held.get(1).release();
        }
    }

    @Test
    void endTheirConnectionWhenTheyStopAndListenAgainAfterAStart() throws Exception {
        String name = cluster.semaphore(1);
        PermitGrant held = holder.semaphores().acquire(AcquireRequest.of(name));
        Node stopping = Node.on(cluster.schema(), TestSettings.defaults().with(SemaphoreSettings.NOTIFICATIONS, true));
        CompletableFuture<PermitGrant> waiting =
                stopping.semaphores().acquireAsync(AcquireRequest.of(name).withWaitTime(LONG));
        await().atMost(SOON).until(() -> listeners() > 0);

        stopping.stop();

        await().atMost(SOON).until(() -> stopping.gate().connections().current() == 0);
        assertThat(waiting).failsWithin(SOON);
        await().atMost(SOON).until(() -> listeners() == 0);

        stopping.start();

        waiting = stopping.semaphores().acquireAsync(AcquireRequest.of(name).withWaitTime(LONG));
        await().atMost(SOON).until(() -> listeners() > 0);
        held.release();
        assertThat(waiting).succeedsWithin(SOON).satisfies(PermitGrant::release);
        stopping.close();
    }

    /** Returns how many nanoseconds after the release another instance was granted the permit. */
    private static long handOver(String name, Node from, Node to) {
        PermitGrant held = from.semaphores().acquire(AcquireRequest.of(name));
        CompletableFuture<PermitGrant> waiting =
                to.semaphores().acquireAsync(AcquireRequest.of(name).withWaitTime(LONG));
        await().pollDelay(Duration.ofMillis(500)).until(() -> true);
        long begun = System.nanoTime();
        held.release();
        PermitGrant handedOver = waiting.join();
        long nanos = System.nanoTime() - begun;
        handedOver.release();
        return nanos;
    }

    private static long median(List<Long> values) {
        return values.stream().sorted().toList().get(values.size() / 2);
    }

    private static void listen(Connection connection) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.execute("listen " + CHANNEL);
        }
    }

    private static int notifications(Connection connection, int timeoutMillis) throws SQLException {
        return connection.unwrap(PGConnection.class).getNotifications(timeoutMillis).length;
    }

    private static int listeners() {
        Integer count = cluster.schema().jdbc().queryForObject("""
                select count(*) from pg_stat_activity where datname = current_database() and query = ?""", Integer.class, "listen " + CHANNEL);
        return count == null ? 0 : count;
    }

    private static void awaitRecords(String name) {
        await().atMost(SOON)
                .until(() -> cluster.node(0).admin().find(name).orElseThrow().waiting() > 0);
    }
}
