package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * After a failover the sessions of a pool may still be those of the server that was the primary, and read-only now, while
 * new ones could write: the pool knows no reason to give them up.
 */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReadOnlySessionsIntegrationTests {

    private static final int POOL_SIZE = 10;

    private Schema schema;
    private SemaphoreRows rows;
    private HikariDataSource pool;
    private Node node;

    @BeforeEach
    void start() {
        schema = TestDatabase.create().migrate();
        rows = new SemaphoreRows(schema);
        pool = schema.newPool(POOL_SIZE);
        node = new Node(pool, TestSettings.defaults());
        List.of("a", "b").forEach(name -> node.admin().create(name, 1));
    }

    @AfterEach
    void stop() {
        node.close();
        schema.close();
    }

    @Test
    void acquiresByANewSessionWhenAllOfThePoolAreReadOnly() throws SQLException {
        makeAllSessionsReadOnly();

        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of("a"));

        rows.assertHeldByOnly(grant);
    }

    /** On PostgreSQL the library sets the level of each transaction, before its first query. */
    @Test
    void acquiresByANewSessionWhateverTheLevelOfThePool() throws SQLException {
        node.close();
        HikariConfig repeatable = schema.poolConfig(POOL_SIZE, schema.jdbcUrl());
        repeatable.setTransactionIsolation("TRANSACTION_REPEATABLE_READ");
        pool = schema.newPool(repeatable);
        node = new Node(pool, TestSettings.defaults());
        makeAllSessionsReadOnly();

        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of("a"));

        rows.assertHeldByOnly(grant);
    }

    @Slow
    @Test
    void releasesByANewSession() throws SQLException {
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of("a"));
        makeAllSessionsReadOnly();

        assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);

        rows.assertNothingHeld(List.of("a"));
    }

    @Slow
    @Test
    void releasesByIdByANewSession() throws SQLException {
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of("a"));
        try (Node other = new Node(pool)) {
            makeAllSessionsReadOnly();

            assertThat(other.semaphores().release(grant.externalId())).isEqualTo(ReleaseOutcome.RELEASED);
        }
    }

    @Slow
    @Test
    void changesACapacityByANewSession() throws SQLException {
        makeAllSessionsReadOnly();

        node.admin().setCapacity("a", 2, "test", "failover");

        assertThat(node.admin().find("a"))
                .hasValueSatisfying(status -> assertThat(status.capacity()).isEqualTo(2));
    }

    @Test
    void keepsAliveByANewSession() throws Exception {
        makeAllSessionsReadOnly(); // before one of them becomes that of the keep-alive, which does not return to the
        // pool
        PermitGrant grant = node.semaphores()
                .acquire(AcquireRequest.of("a").withTtl(Duration.ofSeconds(12)).withKeepAlive(true));
        Object granted = renewedAt(grant);

        Awaitility.await()
                .atMost(Duration.ofSeconds(20))
                .until(() -> !renewedAt(grant).equals(granted));

        assertThat(grant.isHeld()).isEqualTo(true);
        grant.release();
    }

    /** The server itself is read-only for a while, as until one of the others has become the primary. */
    @Slow
    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL) // on MariaDB the user of the tests may write all the same
    void waitsForAServerThatWritesAgain() throws Exception {
        schema.jdbc().execute("set global super_read_only = 1");
        Future<PermitGrant> acquired;
        try {
            acquired = Concurrently.async(
                    () -> node.semaphores().acquire(AcquireRequest.of("a").withWaitTime(Duration.ofSeconds(20))));
            Concurrently.assertWaits(acquired);
        } finally {
            schema.jdbc().execute("set global super_read_only = 0");
            schema.jdbc().execute("set global read_only = 0");
        }

        rows.assertHeldByOnly(Concurrently.get(acquired));
    }

    private Object renewedAt(PermitGrant grant) {
        return schema.jdbc()
                .queryForObject(
                        "select renewed_at from permit_request where external_id = ?",
                        Object.class,
                        grant.externalId());
    }

    private void makeAllSessionsReadOnly() throws SQLException {
        List<Connection> sessions = new ArrayList<>();
        try {
            for (int i = 0; i < POOL_SIZE; i++) {
                Connection session = pool.getConnection();
                sessions.add(session);
                try (Statement statement = session.createStatement()) {
                    statement.execute(
                            schema.kind() == DatabaseKind.POSTGRESQL
                                    ? "set default_transaction_read_only = on"
                                    : "set session transaction read only");
                }
            }
        } finally {
            for (Connection session : sessions) {
                session.close();
            }
        }
    }
}
