package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The keep-alive has a connection of its own: an application that uses its whole pool for long loses no grant. */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ExhaustedPoolIntegrationTests {

    private static final int POOL = 6;
    private static final int GRANTS = 5;
    private static final Duration TTL = Duration.ofSeconds(10);
    private static final Duration EXHAUSTED = Duration.ofSeconds(25);
    private static final Duration SOON = Duration.ofSeconds(20);

    private Schema schema;

    @BeforeEach
    void begin() {
        schema = TestDatabase.create().migrate();
    }

    @AfterEach
    void end() {
        schema.close();
    }

    @Test
    void costsNoGrantThatIsKeptAlive() throws Exception {
        HikariDataSource pool = pool(POOL);
        try (Node node = new Node(pool, TestSettings.defaults())) {
            List<PermitGrant> grants = keptAlive(node, GRANTS);
            Awaitility.await("the connection of the keep-alive").atMost(SOON).until(() -> active(pool) == 1);
            CountDownLatch over = new CountDownLatch(1);
            List<Future<Boolean>> hogs = new ArrayList<>();
            for (int i = 0; i < POOL; i++) {
                hogs.add(Concurrently.async(() -> hog(pool, over)));
            }
            Awaitility.await("the pool to be exhausted")
                    .atMost(SOON)
                    .until(() -> pool.getHikariPoolMXBean().getThreadsAwaitingConnection() > 0);

            Awaitility.await("the grants")
                    .during(EXHAUSTED)
                    .atMost(EXHAUSTED.plusSeconds(10))
                    .untilAsserted(() -> assertThat(grants)
                            .allSatisfy(grant -> assertThat(grant.isHeld()).isTrue()));

            PermitGrant first = grants.remove(0);
            first.close();
            assertThat(first.isHeld()).isFalse();

            over.countDown();
            for (Future<Boolean> hog : hogs) {
                assertThat(Concurrently.get(hog)).isTrue();
            }
            assertThat(node.events().of("lost")).isEmpty();
            Awaitility.await("the release, in the background if it came too early")
                    .atMost(SOON)
                    .until(() -> SemaphoreRows.held(schema, "s") == GRANTS - 1);
            grants.forEach(PermitGrant::close);
            Awaitility.await("the return of the connection").atMost(SOON).until(() -> active(pool) == 0);
        }
    }

    @Test
    void isNoReasonToKeepAConnectionOfASmallPool() {
        keepsNone(2, TestSettings.defaults());
        keepsNone(POOL, TestSettings.defaults().with(SemaphoreSettings.MAX_CONNECTIONS, 2));
    }

    private void keepsNone(int size, SemaphoreSettings settings) {
        HikariDataSource pool = pool(size);
        try (Node node = new Node(pool, settings)) {
            List<PermitGrant> grants = keptAlive(node, 1);

            Awaitility.await("no connection between renewals")
                    .during(Duration.ofSeconds(1))
                    .atMost(SOON)
                    .until(() -> active(pool) == 0);

            assertThat(grants.get(0).isHeld()).isTrue();
        }
    }

    /** As a firewall or a server does that ends idle connections, or a server that is started again. */
    @Test
    void isSurvivedByAConnectionThatWasEnded() {
        HikariDataSource pool = pool(POOL);
        try (Node node = new Node(pool, TestSettings.defaults())) {
            PermitGrant grant = keptAlive(node, 1).get(0);
            Awaitility.await("the connection of the keep-alive").atMost(SOON).until(() -> active(pool) == 1);

            assertThat(node.connections().abortAll()).isPositive();

            Awaitility.await("a renewal on another connection")
                    .atMost(SOON)
                    .until(() -> node.semaphores()
                            .find(grant.externalId())
                            .orElseThrow()
                            .expiresAt()
                            .orElseThrow()
                            .isAfter(grant.acquiredAt().plus(TTL)));
            assertThat(grant.isHeld()).isTrue();
            assertThat(active(pool)).isEqualTo(1);
        }
    }

    /** Takes connections, one after the other as long as the pool gives none, and keeps the first one. */
    private static boolean hog(HikariDataSource pool, CountDownLatch over) throws SQLException, InterruptedException {
        while (over.getCount() > 0) {
            try (Connection unused = pool.getConnection()) {
                return over.await(EXHAUSTED.toSeconds() * 2, TimeUnit.SECONDS);
            } catch (SQLException timeout) {
                assertThat(timeout.getMessage()).contains("request timed out");
            }
        }
        return true;
    }

    private HikariDataSource pool(int size) {
        HikariConfig config = schema.poolConfig(size, schema.jdbcUrl());
        config.setConnectionTimeout(Duration.ofSeconds(5).toMillis());
        return schema.newPool(config);
    }

    private static List<PermitGrant> keptAlive(Node node, int count) {
        node.admin().create("s", count);
        List<PermitGrant> grants = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            grants.add(node.semaphores()
                    .acquire(AcquireRequest.of("s").withTtl(TTL).withKeepAlive(true)));
        }
        return grants;
    }

    private static int active(HikariDataSource pool) {
        return pool.getHikariPoolMXBean().getActiveConnections();
    }
}
