package io.dbsemaphore.persistence.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.testing.TestDatabase;
import java.lang.reflect.Proxy;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.SingleConnectionDataSource;

/** A pool may leave auto-commit off, and not end the transaction of a connection that is returned to it: Tomcat's does so. */
class TableCheckIntegrationTests {

    @Test
    void leavesNoTransactionOpen() throws SQLException {
        try (TestDatabase.Schema schema = TestDatabase.create().migrate();
                Connection connection =
                        Objects.requireNonNull(schema.jdbc().getDataSource()).getConnection()) {
            connection.setAutoCommit(false);
            SingleConnectionDataSource pool = new SingleConnectionDataSource(connection, true);
            JdbcTemplate other =
                    new JdbcTemplate(Objects.requireNonNull(schema.jdbc().getDataSource()));
            other.setQueryTimeout(10);

            assertThat(TableCheck.isIncomplete(pool, SemaphorePersistence.ENTITIES, ""))
                    .isFalse();
            assertThatCode(() -> other.execute("alter table semaphore add column another int"))
                    .doesNotThrowAnyException();

            assertThat(TableCheck.find(pool, SemaphorePersistence.ENTITIES, "")).isEmpty();
            assertThatCode(() -> other.execute("alter table semaphore drop column another"))
                    .doesNotThrowAnyException();
            connection.setAutoCommit(true);
        }
    }

    @Test
    void reportsWhatFailedFirst() throws SQLException {
        try (TestDatabase.Schema schema = TestDatabase.create().migrate()) {
            DataSource pool = new DelegatingDataSource(
                    Objects.requireNonNull(schema.jdbc().getDataSource())) {
                @Override
                public Connection getConnection() throws SQLException {
                    Connection connection = super.getConnection();
                    connection.setAutoCommit(false);
                    return withoutRollback(connection);
                }
            };

            assertThatThrownBy(() -> TableCheck.isIncomplete(pool, SemaphorePersistence.ENTITIES, "("))
                    .isInstanceOf(SQLException.class)
                    .hasMessageMatching("(?is).*syntax.*")
                    .satisfies(failure -> assertThat(failure.getSuppressed())
                            .extracting(Throwable::getMessage)
                            .containsExactly("No rollback"));
        }
    }

    private static Connection withoutRollback(Connection target) {
        return (Connection) Proxy.newProxyInstance(
                Connection.class.getClassLoader(), new Class<?>[] {Connection.class}, (proxy, method, arguments) -> {
                    if (method.getName().equals("rollback")) {
                        throw new SQLException("No rollback");
                    }
                    return method.invoke(target, arguments);
                });
    }
}
