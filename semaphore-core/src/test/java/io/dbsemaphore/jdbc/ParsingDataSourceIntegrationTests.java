package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.engine.UnsupportedDatabaseException;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import java.lang.reflect.InvocationTargetException;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * A data source in front of a database, such as ShardingSphere-JDBC, that parses statements, and throws exceptions that JDBC does not
 * know. The start is refused with what to do.
 */
class ParsingDataSourceIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);

    private final Schema schema = TestDatabase.create().migrate();

    @AfterEach
    void close() {
        schema.close();
    }

    /** The first one is of the check of the tables, the second one of the test of what limits rely on. */
    @ParameterizedTest
    @ValueSource(strings = {"exclusive", "coalesce(sum(p.count)"})
    void isRefusedIfItDoesNotKnowAStatement(String unknown) {
        try (HikariDataSource pool = schema.newPool(4)) {
            assertRefused(
                    new ParsingDataSource(pool, unknown), "UnknownSyntaxException: no viable alternative at input");

            await("the return of all connections")
                    .atMost(SOON)
                    .until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
        }
    }

    @Test
    void isRefusedIfItHasNoConnectionForThreadsOfTheLibrary() {
        try (HikariDataSource pool = schema.newPool(1)) {
            assertRefused(
                    new DelegatingDataSource(pool) {
                        @Override
                        public Connection getConnection() {
                            throw new IllegalStateException("no tenant is bound to this thread");
                        }
                    },
                    "IllegalStateException: no tenant is bound to this thread");
        }
    }

    private static void assertRefused(DataSource host, String thrown) {
        assertThatExceptionOfType(UnsupportedDatabaseException.class)
                .isThrownBy(() -> new SemaphoreEngine(host, TestSettings.defaults()).close())
                .withMessageContaining(thrown)
                .satisfies(refusal -> {
                    assertThat(refusal.description()).contains("not an SQLException", thrown);
                    assertThat(refusal.action())
                            .contains("ShardingSphere-JDBC", "set semaphore.datasource to the name");
                    assertThat(refusal).hasRootCauseMessage(thrown.substring(thrown.indexOf(": ") + 2));
                });
    }

    private static final class UnknownSyntaxException extends RuntimeException {

        private static final long serialVersionUID = 1L;

        UnknownSyntaxException() {
            super("no viable alternative at input");
        }
    }

    private static final class ParsingDataSource extends DelegatingDataSource {

        private final String unknown;

        ParsingDataSource(DataSource target, String unknown) {
            super(target);
            this.unknown = unknown;
        }

        @Override
        public Connection getConnection() throws SQLException {
            Connection target = obtainTargetDataSource().getConnection();
            return (Connection) Proxy.newProxyInstance(
                    ParsingDataSource.class.getClassLoader(),
                    new Class<?>[] {Connection.class},
                    (proxy, method, arguments) -> {
                        if (method.getName().equals("prepareStatement") && ((String) arguments[0]).contains(unknown)) {
                            throw new UnknownSyntaxException();
                        }
                        try {
                            return method.invoke(target, arguments);
                        } catch (InvocationTargetException failure) {
                            throw failure.getTargetException();
                        }
                    });
        }
    }
}
