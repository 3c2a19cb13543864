package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

/** Distinguishes a single server from a member of a group. The tests on Galera check that a node of it is recognized. */
class WriteCertificationIntegrationTests {

    @Test
    void aSingleServerDoesNotCertifyWrites() throws SQLException {
        try (Schema schema = TestDatabase.create()) {
            assertThat(isOn(schema.newPool(1))).isEqualTo(false);
        }
    }

    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void aServerOfAReplicationGroupCertifiesWrites() throws SQLException {
        try (Schema schema = TestDatabase.create()) {
            JdbcTemplate jdbc = schema.jdbc();
            jdbc.execute("install plugin group_replication soname 'group_replication.so'");
            try {
                assertThat(isOn(schema.newPool(1))).isEqualTo(false);
                jdbc.execute("set global group_replication_group_name = 'aaaaaaaa-aaaa-aaaa-aaaa-aaaaaaaaaaaa'");

                assertThat(isOn(schema.newPool(1))).isEqualTo(true);
            } finally {
                jdbc.execute("uninstall plugin group_replication");
            }
        }
    }

    private static boolean isOn(DataSource dataSource) throws SQLException {
        return Database.of(dataSource).certifiesWrites(dataSource);
    }
}
