package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import io.dbsemaphore.testing.rerun.Promise;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLTransientConnectionException;
import java.time.Duration;
import java.util.Map;
import java.util.TreeMap;
import java.util.concurrent.Semaphore;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import javax.sql.DataSource;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.DataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.AbstractDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** A host is not disturbed: neither its transactions nor the connections of its pool. */
@Promise
class HostTransactionIntegrationTests {

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private final Node node = cluster.node(0);
    private final String name = cluster.semaphore(1);

    @BeforeEach
    void createBusinessTable() {
        JdbcTemplate jdbc = cluster.schema().jdbc();
        jdbc.execute("drop table if exists business");
        jdbc.execute("create table business (id int primary key)");
    }

    @Test
    void anAcquireStaysWhenTheHostRollsBack() {
        PermitGrant grant = node.transaction().execute(status -> {
            doBusiness();
            PermitGrant acquired = node.semaphores().acquire(AcquireRequest.of(name));
            status.setRollbackOnly();
            return acquired;
        });

        assertThat(grant).isNotNull();
        assertThat(cluster.held(name)).isEqualTo(1);
        assertThat(businessDone()).isZero();
        assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void aReleaseStaysWhenTheHostRollsBack() {
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));

        node.transaction().executeWithoutResult(status -> {
            assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
            status.setRollbackOnly();
        });

        assertThat(cluster.held(name)).isZero();
    }

    @Test
    void whatOthersSeeIsThereBeforeTheHostCommits() {
        node.transaction().executeWithoutResult(status -> {
            node.semaphores().acquire(AcquireRequest.of(name));
            assertThat(cluster.node(1).semaphores().tryAcquire(AcquireRequest.of(name)))
                    .isEmpty();
        });
    }

    @Test
    void theHostCommitsAfterAnAcquireThatFailed() {
        node.semaphores().acquire(AcquireRequest.of(name));

        node.transaction().executeWithoutResult(status -> {
            doBusiness();
            assertThatExceptionOfType(PermitsUnavailableException.class)
                    .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(name)));
            node.gate().failBefore("coalesce(sum(", new SQLException("out of order", "HY000"));
            assertThatExceptionOfType(DataAccessException.class)
                    .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(name)));
            assertThat(status.isRollbackOnly()).isEqualTo(false);
        });

        assertThat(businessDone()).isEqualTo(1);
    }

    @Test
    void theHostGoesOnInItsOwnTransactionAfterwards() {
        node.transaction().executeWithoutResult(status -> {
            Object before = session(node.jdbc());
            node.semaphores().executeWithoutResult(AcquireRequest.of(name), grant -> doBusiness());
            assertThat(session(node.jdbc())).isEqualTo(before);
            assertThat(businessDone()).as("not committed by us").isZero();
        });

        assertThat(businessDone()).isEqualTo(1);
    }

    /** A data source that, other than a pool, gives a connection back as it is: nothing is repaired behind our back. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void givesTheConnectionBackAsItWas(boolean autoCommit) throws SQLException {
        try (HikariDataSource pool = cluster.schema().newPool(1);
                Connection connection = pool.getConnection()) {
            connection.setAutoCommit(autoCommit);
            connection.setTransactionIsolation(Connection.TRANSACTION_SERIALIZABLE);
            connection.setNetworkTimeout(Runnable::run, 123_000);
            changeSession(new JdbcTemplate(new SingleConnectionDataSource(connection, true)));
            finishTransaction(connection);
            OneConnection single = new OneConnection(connection);
            Map<String, Object> before = session(single);
            try (Node isolated = new Node(single)) {

                PermitGrant grant = isolated.semaphores().acquire(AcquireRequest.of(name));
                assertThat(session(single)).as("after an acquire").isEqualTo(before);

                assertThat(isolated.semaphores().tryAcquire(AcquireRequest.of(name)))
                        .isEmpty();
                // what is wanted often is kept for some milliseconds
                await().untilAsserted(() ->
                        assertThat(session(single)).as("after a refusal").isEqualTo(before));

                isolated.gate().failBefore("coalesce(sum(", new SQLException("out of order", "HY000"));
                assertThatThrownBy(() -> isolated.semaphores().acquire(AcquireRequest.of(name)))
                        .isInstanceOf(DataAccessException.class);
                assertThat(session(single)).as("after a failure").isEqualTo(before);

                grant.renew(Duration.ofMinutes(1));
                grant.release();
                isolated.admin().setCapacity(name, 2, "operator", "more of them");
                await().untilAsserted(() ->
                        assertThat(session(single)).as("after all the rest").isEqualTo(before));
            }
        }
        assertThat(cluster.held(name)).isZero();
    }

    @Test
    void waitsForALockNoLongerThanConfiguredOnAConnectionThatWouldWaitLonger() throws SQLException {
        try (HikariDataSource pool = cluster.schema().newPool(1);
                Node impatient = new Node(
                        pool,
                        settings(Duration.ofSeconds(1), 1)
                                .with(SemaphoreSettings.DECISION_TIMEOUT, Duration.ofSeconds(60)));
                RowLock lock = cluster.lock(name)) {
            long begin = System.nanoTime();

            assertThatThrownBy(() -> impatient.semaphores().acquire(AcquireRequest.of(name)))
                    .isInstanceOf(DataAccessException.class);

            assertThat(Duration.ofNanos(System.nanoTime() - begin))
                    .isBetween(Duration.ofMillis(900), Duration.ofSeconds(20));
        }
        assertThat(cluster.held(name)).isZero();
    }

    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
    void thePoolLosesAConnectionThatCannotBeRestored() {
        try (HikariDataSource pool = cluster.schema().newPool(1);
                Node isolated = new Node(pool)) {
            JdbcTemplate jdbc = new JdbcTemplate(pool);
            Object before = jdbc.queryForObject("select connection_id()", Object.class);
            Object lockWait = jdbc.queryForObject("select @@session.innodb_lock_wait_timeout", Object.class);
            isolated.gate()
                    .failBefore(
                            "set session innodb_lock_wait_timeout = " + lockWait,
                            new SQLException("out of order", "HY000"));

            assertThat(isolated.semaphores().tryAcquire(AcquireRequest.of(name)))
                    .isPresent();

            assertThat(jdbc.queryForObject("select connection_id()", Object.class))
                    .isNotEqualTo(before);
            assertThat(jdbc.queryForObject("select @@session.innodb_lock_wait_timeout", Object.class))
                    .isEqualTo(lockWait);
            assertThat(cluster.held(name)).isEqualTo(1);
        }
    }

    private static SemaphoreSettings settings(Duration lockWaitTimeout, int maxAttempts) {
        return TestSettings.defaults()
                .with(SemaphoreSettings.LOCK_WAIT_TIMEOUT, lockWaitTimeout)
                .with(SemaphoreSettings.MAX_ATTEMPTS, maxAttempts);
    }

    private void doBusiness() {
        node.jdbc().update("insert into business (id) values (1)");
    }

    private static int businessDone() {
        return cluster.schema().jdbc().queryForList("select id from business").size();
    }

    /** Which session this is, and in which of its transactions. */
    private static Object session(JdbcTemplate jdbc) {
        String query = switch (cluster.schema().kind()) {
            case MYSQL, MARIADB -> "select connection_id() as id, " + isolation();
            case POSTGRESQL -> "select pg_backend_pid() as id, current_setting('transaction_isolation') as i";
            case H2 -> "select session_id() as id, lock_timeout() as i";
        };
        return jdbc.queryForMap(query);
    }

    private static String isolation() {
        return "@@session." + cluster.schema().isolationVariable() + " as i";
    }

    /** Values that differ from every default. */
    private static void changeSession(JdbcTemplate jdbc) {
        switch (cluster.schema().kind()) {
            case MYSQL -> jdbc.execute("set session innodb_lock_wait_timeout = 77, session wait_timeout = 7777");
            case MARIADB ->
                jdbc.execute("set session innodb_lock_wait_timeout = 77, session wait_timeout = 7777,"
                        + " session idle_transaction_timeout = 777");
            case POSTGRESQL -> {
                jdbc.execute("set lock_timeout = '77s'");
                jdbc.execute("set idle_in_transaction_session_timeout = '777s'");
            }
            case H2 -> jdbc.execute("set lock_timeout 7777");
        }
    }

    private static Map<String, Object> session(DataSource single) throws SQLException {
        try (Connection connection = single.getConnection()) {
            return session(connection);
        }
    }

    private static Map<String, Object> session(Connection connection) throws SQLException {
        JdbcTemplate jdbc = new JdbcTemplate(new SingleConnectionDataSource(connection, true));
        Map<String, Object> session = new TreeMap<>(jdbc.queryForMap(
                switch (cluster.schema().kind()) {
                    case MYSQL ->
                        "select connection_id() as id, @@session.innodb_lock_wait_timeout as lock_wait,"
                                + " @@session.wait_timeout as idle, @@session.autocommit as a, " + isolation();
                    case MARIADB ->
                        "select connection_id() as id, @@session.innodb_lock_wait_timeout as lock_wait,"
                                + " @@session.wait_timeout as idle, @@session.autocommit as a,"
                                + " @@session.idle_transaction_timeout as idle_in_transaction, " + isolation();
                    case POSTGRESQL ->
                        "select pg_backend_pid() as id, current_setting('lock_timeout') as lock_wait,"
                                + " current_setting('idle_in_transaction_session_timeout') as idle,"
                                + " current_setting('transaction_isolation') as i";
                    case H2 -> "select session_id() as id, lock_timeout() as lock_wait";
                }));
        session.put("autoCommit", connection.getAutoCommit());
        session.put("isolation", connection.getTransactionIsolation());
        session.put("networkTimeout", connection.getNetworkTimeout());
        session.put("readOnly", connection.isReadOnly());
        finishTransaction(connection);
        return session;
    }

    private static void finishTransaction(Connection connection) throws SQLException {
        if (!connection.getAutoCommit()) {
            connection.commit();
        }
    }

    /** The same connection for one borrower after the other: no two threads use it at the same time. */
    private static final class OneConnection extends AbstractDataSource {

        private final Connection connection;
        private final Semaphore free = new Semaphore(1);

        OneConnection(Connection connection) {
            this.connection = connection;
        }

        @Override
        public Connection getConnection() throws SQLException {
            try {
                if (!free.tryAcquire(30, TimeUnit.SECONDS)) {
                    throw new SQLTransientConnectionException("The connection was not given back for 30 s");
                }
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new SQLTransientConnectionException(e);
            }
            AtomicBoolean closed = new AtomicBoolean();
            return (Connection) Proxy.newProxyInstance(
                    getClass().getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                        switch (method.getName()) {
                            case "close" -> {
                                if (closed.compareAndSet(false, true)) {
                                    free.release();
                                }
                                return null;
                            }
                            case "isClosed" -> {
                                return closed.get();
                            }
                            default -> {
                                try {
                                    return method.invoke(connection, arguments);
                                } catch (InvocationTargetException e) {
                                    throw e.getCause();
                                }
                            }
                        }
                    });
        }

        @Override
        public Connection getConnection(String username, String password) throws SQLException {
            return getConnection();
        }
    }
}
