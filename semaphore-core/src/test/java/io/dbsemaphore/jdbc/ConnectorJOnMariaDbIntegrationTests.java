package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
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
                HikariDataSource pool = pool(schema, 1);
                Sessions sessions = new Sessions(
                        pool, Database.of(pool), LIMIT, LIMIT, 1, true, new DatabaseThreads(1, new DaemonThreads()))) {
            assertThat(Database.of(schema.jdbc().getDataSource())).isEqualTo(Database.MARIADB);
            assertThat(sessions.begin().statements().isOneRoundTrip()).isEqualTo(false);
            sessions.end();
        }
    }

    /** Hibernate cannot read the metadata of this driver there, and does not have to. */
    @Test
    void grantsAndAdministers() {
        try (Schema schema = TestDatabase.create().migrate();
                HikariDataSource pool = pool(schema, 4);
                SemaphoreEngine engine = new SemaphoreEngine(pool, TestSettings.defaults())) {
            engine.start();
            engine.admin().create("backup", 1);

            new SemaphoreTemplate(engine.permitManager())
                    .run(
                            "backup",
                            () -> assertThat(engine.admin().list())
                                    .extracting(SemaphoreStatus::held)
                                    .containsExactly(1L));
        }
    }

    private static HikariDataSource pool(Schema schema, int size) {
        String url = schema.jdbcUrl().replace("jdbc:mariadb:", "jdbc:mysql:") + "?sslMode=DISABLED";
        return new HikariDataSource(schema.poolConfig(size, url));
    }
}
