package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import java.sql.Connection;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.stream.Collectors;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;

/** Whatever happens to the sessions of a pool, the library leaves its host all connections, with the settings that they had. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.POSTGRESQL})
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PoolMatrixIntegrationTests {

    private static final int STATEMENTS = 20;

    private final Schema schema = TestDatabase.create().migrate();
    private DataSource pool;
    private SemaphoreEngine engine;
    private SemaphoreTemplate semaphores;
    private List<Settings> settingsOfHost;

    /** What the host finds in a session. */
    private record Settings(boolean autoCommit, int isolation, int networkTimeout, List<String> ofServer) {}

    private void start(HostPool kind, boolean validating) throws Exception {
        start(kind.create(schema, validating));
    }

    private void start(DataSource created) throws SQLException {
        pool = created;
        settingsOfHost = onAll(this::settings);
        engine = new SemaphoreEngine(pool, TestSettings.defaults());
        engine.admin().create("a", 1);
        semaphores = new SemaphoreTemplate(engine.permitManager());
    }

    @AfterEach
    void stop() throws Exception {
        engine.close();
        HostPool.close(pool);
        schema.close();
    }

    /** As after a failover, when they are those of the former primary. */
    @ParameterizedTest
    @EnumSource(mode = EnumSource.Mode.EXCLUDE, names = "DBCP_SHARED")
    void survivesThatAllSessionsAreReadOnly(HostPool kind) throws Exception {
        start(kind, false);
        setWritable(false);

        semaphores.acquire(AcquireRequest.of("a")).close();

        assertHostIsWell();
    }

    @ParameterizedTest
    @EnumSource(names = {"TOMCAT", "C3P0"})
    void recognizesAPoolThatIsWrapped(HostPool kind) throws Exception {
        start(new LazyConnectionDataSourceProxy(kind.create(schema, false)));
        setWritable(false);

        semaphores.acquire(AcquireRequest.of("a")).close();

        assertHostIsWell();
    }

    /** The library does not end sessions that work, since it does not know what the pool would make of that. */
    @Test
    void keepsReadOnlySessionsOfAPoolThatIsNotKnown() throws Exception {
        start(HostPool.DBCP_SHARED, false);
        setWritable(false);
        Set<Long> sessions = ids();

        assertThatThrownBy(() -> semaphores.tryAcquire(AcquireRequest.of("a")))
                .message()
                .matches("(?is).*read.only.*");

        assertHostIsWell();
        assertThat(ids()).isEqualTo(sessions);
        setWritable(true);
        semaphores.acquire(AcquireRequest.of("a")).close();
    }

    /** As by a server that is restarted, or a firewall. */
    @ParameterizedTest
    @EnumSource
    void survivesThatAllSessionsAreKilled(HostPool kind) throws Exception {
        start(kind, true);
        ids().forEach(this::kill);

        semaphores.acquire(AcquireRequest.of("a")).close();

        assertHostIsWell();
    }

    @ParameterizedTest
    @EnumSource
    void findsItsSettingsAfterConcurrentUse(HostPool kind) throws Exception {
        start(kind, false);

        Concurrently.run(8, Duration.ofSeconds(40), i -> {
            for (int acquire = 0; acquire < 10; acquire++) {
                semaphores
                        .acquire(AcquireRequest.of("a").withWaitTime(Duration.ofSeconds(30)))
                        .close();
            }
        });

        assertHostIsWell();
    }

    /** All of its statements succeed, no connection is missing, and all settings are its own. */
    private void assertHostIsWell() throws SQLException {

        for (int i = 0; i < STATEMENTS; i++) {
            try (Connection connection = pool.getConnection()) {
                query(connection, "select 1");
            }
        }
        assertThat(ids()).hasSize(HostPool.SIZE);
        assertThat(onAll(this::settings)).isEqualTo(settingsOfHost);
    }

    private Set<Long> ids() throws SQLException {
        String query = schema.kind() == DatabaseKind.POSTGRESQL ? "select pg_backend_pid()" : "select connection_id()";
        return onAll(connection -> Long.valueOf(query(connection, query).get(0))).stream()
                .collect(Collectors.toSet());
    }

    private Settings settings(Connection connection) throws SQLException {
        List<String> ofServer = query(
                connection,
                switch (schema.kind()) {
                    case POSTGRESQL ->
                        "select current_setting('lock_timeout'), current_setting('idle_in_transaction_session_timeout')";
                    case MYSQL ->
                        "select @@innodb_lock_wait_timeout, @@lock_wait_timeout, @@wait_timeout, @@autocommit";
                    default ->
                        "select @@innodb_lock_wait_timeout, @@lock_wait_timeout, @@idle_transaction_timeout, @@autocommit";
                });
        return new Settings(
                connection.getAutoCommit(),
                connection.getTransactionIsolation(),
                connection.getNetworkTimeout(),
                ofServer);
    }

    private void setWritable(boolean writable) throws SQLException {
        String statement = schema.kind() == DatabaseKind.POSTGRESQL
                ? "set default_transaction_read_only = " + !writable
                : "set session transaction read " + (writable ? "write" : "only");
        onAll(connection -> {
            try (Statement setting = connection.createStatement()) {
                return setting.execute(statement);
            }
        });
    }

    private void kill(long id) {
        if (schema.kind() == DatabaseKind.POSTGRESQL) {
            schema.jdbc().queryForList("select pg_terminate_backend(" + id + ")");
        } else {
            schema.jdbc().execute("kill " + id);
        }
    }

    private static List<String> query(Connection connection, String sql) throws SQLException {
        try (Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            List<String> values = new ArrayList<>();
            for (int column = 1; column <= row.getMetaData().getColumnCount(); column++) {
                values.add(row.getString(column));
            }
            return values;
        }
    }

    private interface Use<T> {

        T on(Connection connection) throws SQLException;
    }

    /** Borrows all connections of the pool at once. */
    private <T> List<T> onAll(Use<T> use) throws SQLException {
        List<Connection> borrowed = new ArrayList<>();
        try {
            List<T> results = new ArrayList<>();
            for (int i = 0; i < HostPool.SIZE; i++) {
                borrowed.add(pool.getConnection());
                results.add(use.on(borrowed.get(i)));
            }
            return results;
        } finally {
            for (Connection connection : borrowed) {
                connection.close();
            }
        }
    }
}
