package io.dbsemaphore.persistence.unit;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.testing.TestDatabase;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.Objects;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;
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
}
