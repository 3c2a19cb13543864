package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.BorrowedConnections;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import java.sql.Connection;
import java.time.Duration;
import java.util.concurrent.Future;
import javax.sql.DataSource;
import org.apache.commons.dbcp2.BasicDataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What limits the time of the host's statements does not end a statement of the library that waits for a lock. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LimitedTimeIntegrationTests {

    private static final Duration WAIT_TIME = Duration.ofSeconds(20);

    /** Longer than all limits here, and longer than a single statement of the library waits. */
    private static final Duration LOCKED = Duration.ofMillis(2_500);

    private final Schema schema = TestDatabase.create().migrate();

    @AfterEach
    void close() {
        schema.close();
    }

    @Test
    @EnabledOnDatabase({DatabaseKind.POSTGRESQL, DatabaseKind.MARIADB, DatabaseKind.MYSQL})
    void ofAPoolIsLifted() throws Exception {
        try (BasicDataSource pool = new BasicDataSource()) {
            pool.setUrl(schema.jdbcUrl());
            pool.setUsername(schema.username());
            pool.setPassword(schema.password());
            pool.setDefaultQueryTimeout(Duration.ofSeconds(1));

            assertWaits(pool);
        }
    }

    @Test
    @EnabledOnDatabase({DatabaseKind.POSTGRESQL, DatabaseKind.MARIADB, DatabaseKind.MYSQL})
    void ofASessionIsLifted() throws Exception {
        HikariConfig config = schema.poolConfig(3, schema.jdbcUrl());
        String asked;
        String limit;
        switch (schema.kind()) {
            case POSTGRESQL -> {
                config.setConnectionInitSql("set statement_timeout = 400");
                asked = "show statement_timeout";
                limit = "400ms";
            }
            case MARIADB -> {
                config.setConnectionInitSql("set session max_statement_time = 0.4");
                asked = "select @@session.max_statement_time";
                limit = "0.400000";
            }
            default -> {
                config.setConnectionInitSql("set session max_execution_time = 400");
                asked = "select @@session.max_execution_time";
                limit = "400";
            }
        }
        try (HikariDataSource pool = schema.newPool(config)) {
            assertWaits(pool);

            try (Connection connection = pool.getConnection()) {
                assertThat(BorrowedConnections.ask(connection, asked)).containsExactly(limit);
            }
        }
    }

    /** There it is a setting of the session, and the driver does not know that of a statement. */
    @Test
    @EnabledOnDatabase(DatabaseKind.H2)
    void ofAnH2SessionIsLeftAlone() throws Exception {
        HikariConfig config = schema.poolConfig(1, schema.jdbcUrl());
        config.setConnectionInitSql("set query_timeout 5000");
        try (HikariDataSource pool = schema.newPool(config);
                Node node = new Node(pool, TestSettings.defaults())) {
            node.semaphores().acquire(AcquireRequest.of(node.semaphore(1))).close();

            try (Connection connection = pool.getConnection()) {
                assertThat(
                                BorrowedConnections.ask(
                                        connection,
                                        "select setting_value from information_schema.settings where setting_name = 'QUERY_TIMEOUT'"))
                        .containsExactly("5000");
            }
        }
    }

    private void assertWaits(DataSource pool) throws Exception {
        try (Node node = new Node(pool, TestSettings.defaults())) {
            String name = node.semaphore(1);
            Future<?> acquire;
            try (RowLock lock = RowLock.ofSemaphore(schema, name)) {
                acquire = Concurrently.async(
                        () -> node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(WAIT_TIME)));
                Thread.sleep(LOCKED.toMillis());
                assertThat(acquire).isNotDone();
            }

            assertThat(Concurrently.get(acquire)).isNotNull();
        }
    }
}
