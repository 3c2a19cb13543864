package io.dbsemaphore.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

@Slow
class TcpProxyIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private TestDatabase.Schema database;
    private TcpProxy proxy;
    private HikariDataSource pool;

    @BeforeEach
    void openDatabase() {
        TestDatabase.assumeServer();
        database = TestDatabase.create();
        database.jdbc().execute("create table note (id int primary key)");
        proxy = database.newProxy();
        pool = database.newPool(2, proxy);
    }

    @AfterEach
    void closeDatabase() {
        if (database != null) {
            database.close();
        }
    }

    @Test
    void letsCommitsThrough() throws SQLException {
        insertAndCommit(1);

        assertThat(notes()).isEqualTo(1);
        assertThat(proxy.commits()).isEqualTo(1);
        assertThat(proxy.statements()).anyMatch(sql -> sql.contains("insert into note"));
        assertThat(proxy.roundTrips()).isGreaterThanOrEqualTo(2);
    }

    @Test
    void recognisesEveryCommitOfAConnection() throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            for (int id = 1; id <= 12; id++) {
                insert(connection, id);
                connection.commit();
            }
        }

        assertThat(proxy.commits()).isEqualTo(12);
    }

    @Test
    void droppedCommitIsRolledBack() throws SQLException {
        proxy.dropNextCommit();

        assertCommitFails(1);
        proxy.awaitDropped(TIMEOUT);

        // The server has noticed when the key can be inserted again: it waits for the transaction that has it.
        database.jdbc().update("insert into note (id) values (1)");
        assertThat(notes()).isEqualTo(1);
    }

    @Test
    void droppedAnswerLeavesTheCommitDone() throws SQLException {
        proxy.dropNextCommitAnswer();

        assertCommitFails(1);
        proxy.awaitDropped(TIMEOUT);

        assertThat(notes()).isEqualTo(1);
    }

    @Test
    void droppedAnswerOfAPreparedCommitLeavesItDone() throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            for (int id = 1; id <= 9; id++) {
                insert(connection, id);
                connection.commit();
            }
            proxy.dropNextCommitAnswer();
            insert(connection, 10);

            assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit);
        }
        proxy.awaitDropped(TIMEOUT);

        assertThat(notes()).isEqualTo(10);
    }

    @Test
    void silencedAnswerLeavesTheCommitDoneAndTheClientWaiting() throws Exception {
        proxy.silenceNextCommitAnswer();
        CompletableFuture<Void> failed = CompletableFuture.runAsync(() -> {
            try {
                assertCommitFails(1);
            } catch (SQLException e) {
                throw new IllegalStateException(e);
            }
        });
        proxy.awaitDropped(TIMEOUT);

        assertThat(notes()).isEqualTo(1);
        assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> failed.get(200, TimeUnit.MILLISECONDS));

        proxy.cutAll();
        failed.get(20, TimeUnit.SECONDS);
    }

    @Test
    void strikesOnce() throws SQLException {
        proxy.dropNextCommit();
        assertCommitFails(1);

        insertAndCommit(2);

        assertThat(proxy.commits()).isEqualTo(2);
        assertThat(notes()).isEqualTo(1);
    }

    @Test
    void waitsForTheTransactionThatItIsTold() throws SQLException {
        proxy.dropNextCommitAnswer("VALUES (2)");
        insertAndCommit(1);

        assertCommitFails(2);
        proxy.awaitDropped(TIMEOUT);

        assertThat(notes()).isEqualTo(2);
    }

    @Test
    void disarmedFaultDoesNotStrike() throws SQLException {
        proxy.dropNextCommit();
        proxy.disarm();

        insertAndCommit(1);

        assertThat(notes()).isEqualTo(1);
    }

    @Test
    void awaitDroppedFailsWhenNothingIsCommitted() {
        proxy.dropNextCommit();

        assertThatThrownBy(() -> proxy.awaitDropped(Duration.ofMillis(50)))
                .isInstanceOf(AssertionError.class)
                .hasMessageContaining("DROP_COMMIT");
    }

    @Test
    void cutsOpenConnections() throws SQLException {
        try (Connection connection = pool.getConnection()) {
            proxy.cutAll();

            assertThatExceptionOfType(SQLException.class).isThrownBy(() -> insert(connection, 1));
        }
    }

    @Test
    void refusesNewConnectionsUntilToldOtherwise() throws SQLException {
        proxy.refuse(true);
        proxy.cutAll();
        pool.setConnectionTimeout(1000);

        assertThatExceptionOfType(SQLException.class).isThrownBy(() -> insertAndCommit(1));
        assertThat(proxy.openConnections()).isZero();

        proxy.refuse(false);
        Awaitility.await().atMost(TIMEOUT).ignoreExceptions().until(() -> {
            insertAndCommit(2);
            return true;
        });
        assertThat(notes()).isEqualTo(1);
    }

    private void insertAndCommit(int id) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            insert(connection, id);
            connection.commit();
        }
    }

    private void assertCommitFails(int id) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            connection.setAutoCommit(false);
            insert(connection, id);
            assertThatExceptionOfType(SQLException.class).isThrownBy(connection::commit);
        }
    }

    private static void insert(Connection connection, int id) throws SQLException {
        try (Statement statement = connection.createStatement()) {
            statement.executeUpdate("insert into note (id) values (" + id + ")");
        }
    }

    private int notes() {
        return database.jdbc().queryForObject("select count(*) from note", Integer.class);
    }
}
