package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.sql.Connection;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** What the library finds on connections of the host's pool: an open transaction, another isolation level. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OpenTransactionIntegrationTests {

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    /** On MySQL a plain query would see what was committed before the host's first one. */
    @Test
    void doesNotHideWhatOthersHold() {
        String name = cluster.semaphore(1);
        SingleConnectionDataSource pool = new SingleConnectionDataSource(
                cluster.schema().jdbcUrl(),
                cluster.schema().username(),
                cluster.schema().password(),
                true);
        pool.setAutoCommit(false);
        try (Node node = new Node(pool, TestSettings.defaults().with(SemaphoreSettings.MAX_CONNECTIONS, 1))) {
            node.semaphores().acquire(AcquireRequest.of(name)).release();
            Awaitility.await("the session is returned")
                    .pollDelay(Duration.ofSeconds(2))
                    .until(() -> true);
            Integer before = new JdbcTemplate(pool).queryForObject("select count(*) from permit", Integer.class);
            assertThat(before).isNotNull();
            PermitGrant held = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));

            assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();

            held.release();
        } finally {
            pool.destroy();
        }
    }

    /** More often than a driver needs to prepare the statements on the server. */
    @Test
    void theLevelOfThePoolIsNotThatOfTheLibrary() throws Exception {
        String name = cluster.semaphore(1);
        HikariConfig config = cluster.schema().poolConfig(3, cluster.schema().jdbcUrl());
        config.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
        try (HikariDataSource pool = cluster.schema().newPool(config);
                Node node = new Node(pool, TestSettings.defaults())) {
            for (int i = 0; i < 12; i++) {
                PermitGrant held = node.semaphores().acquire(AcquireRequest.of(name));
                assertThat(cluster.node(0).semaphores().tryAcquire(AcquireRequest.of(name)))
                        .isEmpty();
                held.release();
                try (PermitGrant other = cluster.node(0).semaphores().acquire(AcquireRequest.of(name))) {
                    assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name)))
                            .as("while it is held by %s", other)
                            .isEmpty();
                }
            }
            try (Connection connection = pool.getConnection()) {
                assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_REPEATABLE_READ);
            }
        }
    }
}
