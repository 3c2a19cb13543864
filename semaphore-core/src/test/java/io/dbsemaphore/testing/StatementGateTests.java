package io.dbsemaphore.testing;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import java.sql.Connection;
import java.sql.PreparedStatement;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.h2.jdbc.JdbcConnection;
import org.h2.jdbcx.JdbcDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

class StatementGateTests {

    private static final Duration TIMEOUT = Duration.ofSeconds(20);

    private final JdbcDataSource database = new JdbcDataSource();
    private final StatementGate gate = new StatementGate(database);

    @BeforeEach
    void createTable() {
        database.setURL("jdbc:h2:mem:gate;DB_CLOSE_DELAY=-1");
        new JdbcTemplate(database).execute("create table note (id int primary key)");
    }

    @AfterEach
    void shutDown() {
        gate.close();
        new JdbcTemplate(database).execute("shutdown");
    }

    @Test
    void stopsAThreadBeforeItsStatement() throws Exception {
        gate.pauseBefore("INSERT into note");
        CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> insertAndCommit(1));
        gate.awaitReached(TIMEOUT);

        assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> writer.get(50, TimeUnit.MILLISECONDS));
        assertThat(gate.count("insert")).isZero();

        gate.open();
        writer.get(20, TimeUnit.SECONDS);
        assertThat(gate.statements()).containsExactly("insert into note (id) values (?)", "commit");
    }

    @Test
    void stopsAThreadBeforeItsCommit() throws Exception {
        StatementGate.Pause pause = gate.pauseBefore("commit");
        CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> insertAndCommit(1));
        pause.awaitReached(TIMEOUT);

        assertThat(notes()).isZero();

        pause.open();
        writer.get(20, TimeUnit.SECONDS);
        assertThat(notes()).isEqualTo(1);
    }

    @Test
    void stopsAThreadAfterItsCommit() throws Exception {
        StatementGate.Pause pause = gate.pauseAfter("commit");
        CompletableFuture<Void> writer = CompletableFuture.runAsync(() -> insertAndCommit(1));
        pause.awaitReached(TIMEOUT);

        assertThat(notes()).isEqualTo(1);
        assertThat(writer).isNotDone();

        pause.open();
        writer.get(20, TimeUnit.SECONDS);
    }

    @Test
    void stopsOnlyTheFirst() throws Exception {
        StatementGate.Pause pause = gate.pauseBefore("insert");
        CompletableFuture<Void> first = CompletableFuture.runAsync(() -> insertAndCommit(1));
        pause.awaitReached(TIMEOUT);

        insertAndCommit(2);

        assertThat(notes()).isEqualTo(1);
        pause.open();
        first.get(20, TimeUnit.SECONDS);
    }

    @Test
    void stopsTheCommitOfATransactionOnly() throws Exception {
        StatementGate.Pause pause = gate.pauseBeforeCommitOf("delete");
        insertAndCommit(1);
        assertThat(pause.isReached()).isFalse();

        CompletableFuture<Void> deleting = CompletableFuture.runAsync(() -> inTransaction("delete from note"));
        pause.awaitReached(TIMEOUT);
        pause.open();
        deleting.get(20, TimeUnit.SECONDS);
    }

    @Test
    void openedBeforeItIsReachedItStopsNobody() {
        gate.pauseBefore("insert");
        gate.open();

        insertAndCommit(1);

        assertThat(notes()).isEqualTo(1);
    }

    @Test
    void makesAStatementFailWithoutTheDatabase() {
        SQLException deadlock = new SQLException("Deadlock", "40001", 1213);
        gate.failBefore("commit", deadlock);

        assertThatThrownBy(() -> insertAndCommit(1)).hasCause(deadlock);
        assertThat(notes()).isZero();

        insertAndCommit(1);
        assertThat(notes()).isEqualTo(1);
    }

    @Test
    void makesAStatementFailThatWasDone() {
        SQLException lost = new SQLException("Answer lost", "08S01");
        gate.failAfter("commit", lost);

        assertThatThrownBy(() -> insertAndCommit(1)).hasCause(lost);
        assertThat(notes()).isEqualTo(1);
    }

    @Test
    void remembersStatementsPerConnection() throws SQLException {
        try (Connection one = gate.getConnection();
                Connection two = gate.getConnection();
                Statement onOne = one.createStatement();
                Statement onTwo = two.createStatement()) {
            onOne.execute("select 1");
            onTwo.execute("select 2");
            onOne.addBatch("delete from note where id = 3");
            onOne.addBatch("delete from note where id = 4");
            two.rollback();
            onOne.executeBatch();
        }

        assertThat(gate.executions())
                .containsExactly(
                        new StatementGate.Executed(1, "select 1"),
                        new StatementGate.Executed(2, "select 2"),
                        new StatementGate.Executed(2, "rollback"),
                        new StatementGate.Executed(1, "delete from note where id = 3; delete from note where id = 4"));
        assertThat(gate.connections().peak()).isEqualTo(2);
        assertThat(gate.connections().current()).isZero();

        gate.clear();
        assertThat(gate.statements()).isEqualTo(List.of());
    }

    @Test
    void canBeLookedThrough() throws SQLException {
        try (Connection connection = gate.getConnection();
                Statement statement = connection.createStatement()) {
            assertThat(connection.isWrapperFor(JdbcConnection.class)).isTrue();
            assertThat(connection.unwrap(JdbcConnection.class)).isNotSameAs(connection);
            assertThat(statement.getConnection()).isSameAs(connection);
            assertThat(statement.unwrap(org.h2.jdbc.JdbcStatement.class)).isNotNull();
        }
        assertThat(gate.unwrap(JdbcDataSource.class)).isSameAs(database);
    }

    @Test
    void failuresOfTheDatabaseComeAsTheyAre() {
        insertAndCommit(1);

        assertThatThrownBy(() -> insertAndCommit(1))
                .cause()
                .isInstanceOfSatisfying(
                        SQLException.class, e -> assertThat(e.getSQLState()).isEqualTo("23505"));
    }

    private void insertAndCommit(int id) {
        try (Connection connection = gate.getConnection();
                PreparedStatement insert = connection.prepareStatement("insert into note (id) values (?)")) {
            connection.setAutoCommit(false);
            insert.setInt(1, id);
            insert.executeUpdate();
            connection.commit();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private void inTransaction(String sql) {
        try (Connection connection = gate.getConnection();
                Statement statement = connection.createStatement()) {
            connection.setAutoCommit(false);
            statement.executeUpdate(sql);
            connection.commit();
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    private int notes() {
        return new JdbcTemplate(database).queryForObject("select count(*) from note", Integer.class);
    }
}
