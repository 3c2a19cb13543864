package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.SQLFeatureNotSupportedException;
import java.time.Duration;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** A connection that listens for releases. */
@EnabledOnDatabase(DatabaseKind.POSTGRESQL)
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReleaseSubscriptionIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(10);

    private static Schema schema;

    @BeforeAll
    static void create() {
        schema = TestDatabase.create();
    }

    @AfterAll
    static void drop() {
        schema.close();
    }

    /** Names of tables are not in quotes, so these are the same tables for PostgreSQL. */
    @ParameterizedTest
    @CsvSource({"App_, App_", "App_, app_", "'', ''"})
    void hearsOfReleasesOfTheSameTables(String prefix, String prefixOfOther) throws SQLException {
        try (HikariDataSource pool = schema.newPool(1);
                ReleaseChannel.Subscription subscription = channel(pool, prefix).subscribe()) {
            tellOf("orders", channel(pool, prefixOfOther));

            assertThat(subscription.await(SOON)).containsExactly("orders");
        }
    }

    @Test
    void hearsNothingOfOtherTables() throws SQLException {
        try (HikariDataSource pool = schema.newPool(1);
                ReleaseChannel.Subscription subscription = channel(pool, "app_").subscribe()) {
            tellOf("orders", channel(pool, "other_"));
            tellOf("invoices", channel(pool, "app_"));

            assertThat(subscription.await(SOON)).containsExactly("invoices");
        }
    }

    @Test
    void endsAlthoughTheServerDoesNotAnswer() throws Exception {
        try (TcpProxy proxy = schema.newProxy();
                HikariDataSource pool = schema.newPool(1, proxy)) {
            ReleaseChannel.Subscription subscription = channel(pool, "").subscribe();
            proxy.silence(true);

            Future<?> closed = Concurrently.async("close", () -> {
                subscription.close();
                return null;
            });
            Concurrently.get(closed);

            proxy.silence(false);
            try (Connection another = pool.getConnection()) {
                assertThat(another.isValid(10)).as("not the broken one").isEqualTo(true);
            }
        }
    }

    @Test
    void leavesItsConnectionAsItWas() throws SQLException {
        HikariConfig config = schema.poolConfig(1, schema.jdbcUrl());
        config.setAutoCommit(false);
        try (HikariDataSource pool = schema.newPool(config)) {
            int networkTimeout;
            try (Connection before = pool.getConnection()) {
                networkTimeout = before.getNetworkTimeout();
            }

            channel(pool, "").subscribe().close();

            try (Connection after = pool.getConnection()) {
                assertThat(after.getAutoCommit()).isEqualTo(false);
                assertThat(after.getNetworkTimeout()).isEqualTo(networkTimeout);
                assertThat(after.createStatement()
                                .executeQuery("select * from pg_listening_channels()")
                                .next())
                        .as("listens")
                        .isEqualTo(false);
            }
        }
    }

    /** As some proxies that monitor or trace connections. */
    @Test
    void refusesConnectionsThatCannotBeUnwrapped() throws SQLException {
        try (HikariDataSource pool = schema.newPool(1)) {
            DataSource opaque = new DelegatingDataSource(pool) {

                @Override
                public Connection getConnection() throws SQLException {
                    return opaque(super.getConnection());
                }
            };

            assertThatExceptionOfType(SQLFeatureNotSupportedException.class)
                    .isThrownBy(() -> channel(opaque, "").subscribe());

            try (Connection another = pool.getConnection()) {
                assertThat(another.isValid(10)).isEqualTo(true);
            }
        }
    }

    private static Connection opaque(Connection connection) {
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(),
                new Class<?>[] {Connection.class},
                (proxy, method, arguments) ->
                        method.getName().equals("isWrapperFor") ? false : method.invoke(connection, arguments));
    }

    private static ReleaseChannel channel(DataSource pool, String tablePrefix) {
        Sessions sessions = new Sessions(
                pool, Database.POSTGRESQL, SOON, SOON, 2, true, new DatabaseThreads(2, new DaemonThreads()));
        return ReleaseChannel.of(sessions, Database.POSTGRESQL, tablePrefix).orElseThrow();
    }

    private static void tellOf(String semaphore, ReleaseChannel by) {
        schema.jdbc().queryForList("select " + by.notification("'" + semaphore + "'"));
    }
}
