package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.BorrowedConnections;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.rerun.Promise;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A session of the pool in which a former borrower has left something: another schema, a clock that stands, another character set. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Promise
class StraySessionIntegrationTests {

    private Schema schema;
    private HikariDataSource pool;
    private Node node;

    @BeforeEach
    void startNode() {
        schema = TestDatabase.create().migrate();
        pool = schema.newPool(1);
        node = new Node(pool, TestSettings.defaults());
    }

    @AfterEach
    void stopNode() {
        node.close();
        schema.close();
    }

    /** The tables of a tenant have the same names: an acquire there would not see what is held here. */
    @Test
    void readsTheTablesOfTheStartFromASessionInAnotherSchema() throws SQLException {
        String name = node.semaphore(1);
        createTenant();
        String here = place();
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));

        leave(
                switch (schema.kind()) {
                    case MYSQL, MARIADB -> "use " + tenant();
                    case POSTGRESQL -> "set search_path = " + tenant();
                    case H2 -> "set schema " + tenant();
                });
        assertThat(place()).isNotEqualTo(here);

        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
        assertThat(node.semaphores().find(grant.externalId())).isPresent();
        node.transaction().executeWithoutResult(status -> node.semaphores().requireHeld(grant));
        assertThat(node.admin().find(name))
                .hasValueSatisfying(status -> assertThat(status.held()).isEqualTo(1));
        assertThat(node.admin().holders(name)).hasSize(1); // by Hibernate
        grant.release();
        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isPresent();
        assertThat(place()).as("left where it was").isNotEqualTo(here);
    }

    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
    void computesWithAClockThatRuns() throws SQLException {
        String name = node.semaphore(1);
        leave("set timestamp = 1000000000");

        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name).withTtl(Duration.ofMinutes(5)));

        assertThat(grant.acquiredAt()).isAfter(Instant.parse("2020-01-01T00:00:00Z"));
        assertThat(asked("select cast(@@session.timestamp as unsigned)")).startsWith("1000000000");
    }

    /** It was stopped less than a second ago. */
    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void runsAClockThatHasJustBeenStopped() throws SQLException {
        String name = node.semaphore(1);
        leave("set session timestamp = unix_timestamp(now(6)) - 0.8");
        Instant before = node.admin().find(name).isPresent() ? clock() : Instant.MAX;

        assertThat(node.semaphores().acquire(AcquireRequest.of(name)).acquiredAt())
                .isAfterOrEqualTo(before);
    }

    /** The clock of a session in which none was set goes on running. */
    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
    void leavesAClockRunning() throws SQLException {
        node.semaphores().acquire(AcquireRequest.of(node.semaphore(1))).close();

        String before = asked("select now(6)");

        assertThat(asked("select now(6)")).isGreaterThan(before);
    }

    /** The driver goes on sending the bytes of another character set; MariaDB's driver closes the connection. */
    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void findsTheSameNamesWithAnotherCharacterSet() throws SQLException {
        String name = node.semaphore(1) + "-\u00e9\uD83D\uDE00";
        node.admin().create(name, 1);
        String before = asked("select @@session.collation_connection");
        leave("set names latin1");

        assertThat(node.admin().create(name, 1)).isFalse();
        try (PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name))) {
            assertThat(grant.permits()).containsOnlyKeys(name);
        }

        assertThat(asked("select @@session.character_set_client")).isEqualTo("latin1");
        assertThat(asked("select @@session.collation_connection"))
                .startsWith("latin1")
                .isNotEqualTo(before);
    }

    /** With {@code useLocalSessionState} the driver does not ask the server, and does not know of SQL that changes it. */
    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void decidesInATransactionAtReadCommittedWhateverTheDriverBelieves() throws SQLException {
        node.close();
        String separator = schema.jdbcUrl().contains("?") ? "&" : "?";
        HikariConfig config = schema.poolConfig(1, schema.jdbcUrl() + separator + "useLocalSessionState=true");
        config.setAutoCommit(false);
        config.setTransactionIsolation("TRANSACTION_READ_COMMITTED");
        pool = schema.newPool(config);
        node = new Node(pool, TestSettings.defaults());
        String name = node.semaphore(1);
        String session = asked("select connection_id()");
        leave("set session autocommit = 1, transaction_isolation = 'REPEATABLE-READ'");
        String settings = "select concat(@@session.autocommit, ' ', @@session.transaction_isolation)";
        assertThat(asked(settings)).isEqualTo("1 REPEATABLE-READ");

        StatementGate.Pause commit = node.gate().pauseBeforeCommitOf("insert into permit_request");
        CompletableFuture<PermitGrant> acquire =
                CompletableFuture.supplyAsync(() -> node.semaphores().acquire(AcquireRequest.of(name)));
        commit.awaitReached(Duration.ofSeconds(20));
        assertThat(schema.jdbc()
                        .queryForObject(
                                "select trx_isolation_level from information_schema.innodb_trx where trx_mysql_thread_id = ?",
                                String.class,
                                session))
                .isEqualTo("READ COMMITTED");
        // what is not committed is not seen
        assertThat(schema.jdbc().queryForObject("select count(*) from permit", Integer.class))
                .isZero();
        commit.open();
        acquire.join().release();

        assertThat(asked(settings)).isEqualTo("1 REPEATABLE-READ");
    }

    /** Otherwise each transaction would be one of the level that the first one has, and see what was committed before it read first. */
    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
    void decidesInATransactionAtReadCommittedWhereTransactionsBeginEachOther() throws SQLException {
        node.close();
        HikariConfig config = schema.poolConfig(1, schema.jdbcUrl());
        config.setAutoCommit(false);
        pool = schema.newPool(config);
        node = new Node(pool, TestSettings.defaults());
        String name = node.semaphore(1);
        String session = asked("select connection_id()");
        leave("set session completion_type = 'CHAIN'");

        for (int i = 0; i < 2; i++) {
            StatementGate.Pause commit = node.gate().pauseBeforeCommitOf("insert into permit_request");
            CompletableFuture<PermitGrant> acquire =
                    CompletableFuture.supplyAsync(() -> node.semaphores().acquire(AcquireRequest.of(name)));
            commit.awaitReached(Duration.ofSeconds(20));
            assertThat(schema.jdbc()
                            .queryForObject(
                                    "select trx_isolation_level from information_schema.innodb_trx where trx_mysql_thread_id = ?",
                                    String.class,
                                    session))
                    .isEqualTo("READ COMMITTED");
            commit.open();
            acquire.join().release();
        }

        assertThat(asked("select @@session.completion_type")).isEqualTo("CHAIN");
    }

    /** SQL has begun it: the driver has auto-commit on, so that the pool ends nothing. Its sums would be those of its first query. */
    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
    void seesWhatWasGrantedSinceASessionWasLeftInATransaction() throws SQLException {
        String name = node.semaphore(1);
        try (Node other = Node.on(schema)) {
            leave(
                    schema.kind() == DatabaseKind.POSTGRESQL
                            ? "begin isolation level repeatable read"
                            : "start transaction");
            leave("select count(*) from permit");
            PermitGrant grant = other.semaphores().acquire(AcquireRequest.of(name));

            assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();

            grant.release();
            assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isPresent();
        }
    }

    /** It is not committed with a grant of the library. */
    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
    void rollsBackWhatASessionWasLeftWith() throws SQLException {
        String name = node.semaphore(1);
        leave(schema.kind() == DatabaseKind.POSTGRESQL ? "begin" : "start transaction");
        leave("update semaphore set capacity = 5 where name = '" + name + "'");

        node.semaphores().acquire(AcquireRequest.of(name));

        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
        assertThat(schema.jdbc().queryForObject("select capacity from semaphore where name = ?", Integer.class, name))
                .isEqualTo(1);
    }

    /** Connector/J sends a rollback also where there is nothing to roll back: it would be a round trip of each loan. */
    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void sendsNoRollbackToASessionThatIsInNoTransaction() throws SQLException {
        String name = node.semaphore(1);
        leave("select 1"); // the library has returned the session
        node.gate().clear();

        node.semaphores().acquire(AcquireRequest.of(name)).release();

        assertThat(node.gate().count("set session")).isPositive();
        assertThat(node.gate().count("rollback")).isZero();
    }

    @Test
    @EnabledOnDatabase(DatabaseKind.MARIADB)
    void readsTheRowsOfTodayOfSystemVersionedTables() throws SQLException {
        String name = node.semaphore(1);
        for (String table : List.of("permit", "permit_request")) {
            schema.jdbc()
                    .execute("set statement system_versioning_alter_history = keep for alter table " + table
                            + " add system versioning");
        }
        node.semaphores().acquire(AcquireRequest.of(name));
        leave("set session system_versioning_asof = '2020-01-01 00:00:00'");

        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();

        assertThat(asked("select @@session.system_versioning_asof")).startsWith("2020-01-01");
    }

    /** Another role, under a policy that hides rows: the sum of what is left would be too low. */
    @Test
    @EnabledOnDatabase(DatabaseKind.POSTGRESQL)
    void failsWhereAPolicyHidesRows() throws SQLException {
        String name = node.semaphore(1);
        node.semaphores().acquire(AcquireRequest.of(name));
        String role = schema.name() + "_role";
        schema.jdbc().execute("create role " + role);
        try {
            schema.jdbc().execute("grant select, insert, update, delete on all tables in schema public to " + role);
            schema.jdbc().execute("create policy others on permit for select to " + role + " using (false)");
            schema.jdbc().execute("create policy own on permit for all to " + role + " with check (true)");
            schema.jdbc().execute("alter table permit enable row level security");
            leave("set role " + role);

            assertThatThrownBy(() -> node.semaphores().tryAcquire(AcquireRequest.of(name)))
                    .hasMessageContaining("row-level security");
        } finally {
            leave("reset role");
            schema.jdbc().execute("drop owned by " + role);
            schema.jdbc().execute("drop role " + role);
        }
    }

    private Instant clock() {
        return Objects.requireNonNull(schema.jdbc().queryForObject("select utc_timestamp(6)", LocalDateTime.class))
                .toInstant(ZoneOffset.UTC);
    }

    private String tenant() {
        return schema.name() + "_tenant";
    }

    private void createTenant() {
        schema.jdbc().execute("create schema " + tenant());
        for (String table : List.of(
                "semaphore",
                "permit_request",
                "permit",
                "semaphore_instance",
                "semaphore_waiter",
                "semaphore_share",
                "capacity_change")) {
            schema.jdbc()
                    .execute("create table %s.%s as select * from %2$s %s"
                            .formatted(tenant(), table, table.equals("semaphore") ? "" : "where 1 = 0"));
        }
    }

    /** Where the session is. */
    private String place() throws SQLException {
        return asked(
                switch (schema.kind()) {
                    case MYSQL, MARIADB -> "select database()";
                    case POSTGRESQL -> "select current_schema()";
                    case H2 -> "select schema()";
                });
    }

    /** Executes what a borrower of the only session leaves in it. */
    private void leave(String statement) throws SQLException {
        try (Connection connection = pool.getConnection();
                Statement executed = connection.createStatement()) {
            executed.execute(statement);
            if (!connection.getAutoCommit()) {
                connection.commit();
            }
        }
    }

    private String asked(String query) throws SQLException {
        try (Connection connection = pool.getConnection()) {
            return BorrowedConnections.ask(connection, query).get(0);
        }
    }
}
