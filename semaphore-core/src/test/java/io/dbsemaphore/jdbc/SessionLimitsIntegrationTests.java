package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.BorrowedConnections;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import io.dbsemaphore.testing.node.SemaphoreRows;
import io.dbsemaphore.testing.node.Wish;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.dao.DataAccessException;

/** What a session of the host's pool is told for a transaction of ours, and that it has its own settings again after it. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SessionLimitsIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final String OF_HOST = "33";
    private static final String OF_HOST_IDLE = "444";

    private static Schema schema;
    private static String idleVariable;
    private static String session;

    private HikariDataSource pool;
    private Node node;

    @BeforeAll
    static void start() {
        schema = TestDatabase.create().migrate();
        idleVariable = schema.kind() == DatabaseKind.MYSQL ? "wait_timeout" : "idle_transaction_timeout";
        session =
                "select connection_id(), @@session.innodb_lock_wait_timeout, @@session.%s, @@session.autocommit, @@session.%s"
                        .formatted(idleVariable, schema.isolationVariable());
    }

    @AfterAll
    static void stop() {
        if (schema != null) {
            schema.close();
        }
    }

    @BeforeEach
    void startNode() {
        HikariConfig config = schema.poolConfig(1, schema.jdbcUrl());
        config.setConnectionInitSql("set session innodb_lock_wait_timeout = %s, session %s = %s"
                .formatted(OF_HOST, idleVariable, OF_HOST_IDLE));
        pool = schema.newPool(config);
        node = new Node(pool, TestSettings.limits(2, 7, 1));
    }

    @AfterEach
    void stopNode() {
        node.close();
        pool.close();
    }

    @Test
    void holdDuringATransactionOnly() throws SQLException {
        String id = assertSessionOfHost();

        During acquire = askDuringAnAcquire(session);

        assertThat(acquire.answer).containsExactly(id, "1", "7", "0", "READ-COMMITTED");
        assertThat(assertSessionOfHost()).isEqualTo(id);
        acquire.grant.release();
        assertThat(assertSessionOfHost()).isEqualTo(id);
    }

    /** It is on by default from MariaDB 11.6 on; an update would wait for rows that it is not to change. */
    @Test
    @EnabledOnDatabase(DatabaseKind.MARIADB)
    void switchSnapshotIsolationOff() throws SQLException {
        String snapshotIsolation = "select @@session.innodb_snapshot_isolation";
        try (Connection connection = pool.getConnection();
                Statement statement = connection.createStatement()) {
            statement.execute("set session innodb_snapshot_isolation = on");
        }

        During acquire = askDuringAnAcquire(snapshotIsolation);

        assertThat(acquire.answer).containsExactly("0");
        try (Connection connection = pool.getConnection()) {
            assertThat(BorrowedConnections.ask(connection, snapshotIsolation)).containsExactly("1");
        }
    }

    @Test
    void endWithATransactionThatFailed() throws SQLException {
        String id = assertSessionOfHost();
        AcquireRequest request = Wish.SEVERAL_NAMES.on(node);
        String name = request.permits().keySet().iterator().next();
        try (RowLock lock = RowLock.ofSemaphore(schema, name)) {
            assertThatThrownBy(() -> node.semaphores().acquire(request)).isInstanceOf(DataAccessException.class);
        }
        assertThat(assertSessionOfHost()).isEqualTo(id);
    }

    @Test
    void endWithTheSessionWhereTheyCannotBeRestored() throws SQLException {
        String id = assertSessionOfHost();
        AcquireRequest request = Wish.SEVERAL_NAMES.on(node);
        assertSessionOfHost(); // so that none is kept for the next transaction
        node.gate().failBefore("set session", new SQLException("cannot be restored", "HY000"));

        assertThatThrownBy(() -> node.semaphores().acquire(request)).isInstanceOf(DataAccessException.class);

        assertThat(assertSessionOfHost()).isNotEqualTo(id);
        node.semaphores().acquire(request).close();
    }

    @Test
    void endWithTheSessionWhereTheyCannotBeRestoredAfterTheCommit() throws SQLException {
        String id = assertSessionOfHost();
        AcquireRequest request = Wish.SEVERAL_NAMES.on(node);
        Pause pause = node.gate().pauseBeforeCommitOf("insert into permit_request");
        CompletableFuture<PermitGrant> acquired =
                CompletableFuture.supplyAsync(() -> node.semaphores().acquire(request));
        pause.awaitReached(SOON);
        node.gate().failBefore("set session", new SQLException("cannot be restored", "HY000"));
        pause.open();

        PermitGrant grant =
                acquired.orTimeout(SOON.toSeconds(), TimeUnit.SECONDS).join();

        assertThat(assertSessionOfHost()).isNotEqualTo(id);
        new SemaphoreRows(schema).assertHeldByOnly(grant);
    }

    /** Returns the id of the session that the host gets, once it has been seen that it has its own settings. */
    private String assertSessionOfHost() throws SQLException {
        try (Connection connection = pool.getConnection()) {
            List<String> values = BorrowedConnections.ask(connection, session);
            assertThat(values.subList(1, 5)).containsExactly(OF_HOST, OF_HOST_IDLE, "1", "REPEATABLE-READ");
            assertThat(connection.getNetworkTimeout()).isZero();
            assertThat(connection.getAutoCommit()).isTrue();
            assertThat(connection.getTransactionIsolation()).isEqualTo(Connection.TRANSACTION_REPEATABLE_READ);
            return values.get(0);
        }
    }

    /** What its session answers while an acquire is about to commit, and what it grants. */
    private record During(List<String> answer, PermitGrant grant) {}

    private During askDuringAnAcquire(String query) {
        AcquireRequest request = Wish.SEVERAL_NAMES.on(node);
        Pause pause = node.gate().pauseBeforeCommitOf("insert into permit_request");
        CompletableFuture<PermitGrant> acquired =
                CompletableFuture.supplyAsync(() -> node.semaphores().acquire(request));
        pause.awaitReached(SOON);
        List<String> answer = node.connections().askLast(query);
        pause.open();
        return new During(
                answer, acquired.orTimeout(SOON.toSeconds(), TimeUnit.SECONDS).join());
    }
}
