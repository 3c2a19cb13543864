package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import java.sql.SQLException;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/**
 * The driver of MySQL on a server of MariaDB, which refuses a lock with {@code NOWAIT} by the error of a lock wait that timed
 * out: there releases are not sent together with such a lock.
 */
@EnabledOnDatabase(DatabaseKind.MARIADB)
class ConnectorJOnMariaDbIntegrationTests {

    private static final Duration LIMIT = Duration.ofSeconds(5);

    @Test
    void sendsStatementsOneByOne() throws SQLException {
        try (Schema schema = TestDatabase.create();
                HikariDataSource pool = new HikariDataSource(schema.poolConfig(
                        1, schema.jdbcUrl().replace("jdbc:mariadb:", "jdbc:mysql:") + "?sslMode=DISABLED"));
                Sessions sessions = new Sessions(
                        pool, Database.of(pool), LIMIT, LIMIT, 1, true, new DatabaseThreads(1, new DaemonThreads()))) {
            assertThat(Database.of(schema.jdbc().getDataSource())).isEqualTo(Database.MARIADB);
            assertThat(sessions.begin().statements().isOneRoundTrip()).isEqualTo(false);
            sessions.end();
        }
    }
}
