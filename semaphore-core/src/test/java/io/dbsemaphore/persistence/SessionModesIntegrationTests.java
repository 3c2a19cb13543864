package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.LoggedWarnings;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.jdbc.core.JdbcTemplate;

/** Sessions of a host with settings that reject, or change, statements that others accept; and grants whose rows are gone. */
class SessionModesIntegrationTests {

    private final Schema schema = TestDatabase.create().migrate();

    @AfterEach
    void close() {
        schema.close();
    }

    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
    void grantsAndReleasesWithSafeUpdates() {
        try (Node node = new Node(pool("set session sql_safe_updates = 1"))) {
            String name = node.semaphore(1);
            PermitGrant grant =
                    node.semaphores().acquire(AcquireRequest.of(name).withTtl(Duration.ofMinutes(1)));
            assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
            assertThat(node.semaphores()
                            .renew(grant.externalId(), Duration.ofMinutes(2))
                            .isHeld())
                    .isTrue();
            assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
            node.admin().setCapacity(name, 2, "test", "more");
            node.maintenance().releaseOrphans();
            node.maintenance().deleteReleasedRequests();
            node.maintenance().deleteCapacityHistory();
            assertThat(node.admin().delete(name)).isTrue();
        }
    }

    @Test
    @EnabledOnDatabase(DatabaseKind.MARIADB)
    void marksARefusalWhereAnEmptyTextIsNull() throws SQLException {
        HikariDataSource pool = pool("set session sql_mode = concat(@@sql_mode, ',EMPTY_STRING_IS_NULL')");
        try (Node node = new Node(pool);
                OpenPersistence persistence = OpenPersistence.on(pool)) {
            String name = node.semaphore(1);

            persistence.transactions().availabilityTransactions().mark(Map.of(name, Duration.ofSeconds(9)), 7, "test");

            assertThat(schema.jdbc().queryForList("select instance from semaphore_waiter", Long.class))
                    .containsExactly(-7L);
        }
    }

    /** The error of a server that rejects statements for another reason than that it is read-only has the same code. */
    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
    void takesAServerForReadOnlyOnlyIfItSaysSo() {
        String other = schema.kind() == DatabaseKind.MYSQL
                ? "select 1 into outfile '/nowhere/one'"
                : "create table other(id int) engine=MyISAM";
        String setting = schema.kind() == DatabaseKind.MYSQL
                ? "set @unused = 1"
                : "set session sql_mode = 'NO_ENGINE_SUBSTITUTION', enforce_storage_engine = 'InnoDB'";

        assertThatThrownBy(() -> new JdbcTemplate(pool(setting)).execute(other)).satisfies(failure -> {
            assertThat(SqlErrors.root(failure))
                    .hasValueSatisfying(
                            error -> assertThat(error.getErrorCode()).isEqualTo(1290));
            assertThat(SqlErrors.isReadOnly(failure)).isFalse();
        });
    }

    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void releasesAGrantWhosePermitsAreGone(boolean pipelining) {
        try (Node node = Node.on(schema);
                Node other = Node.on(schema, TestSettings.defaults().with(SemaphoreSettings.PIPELINING, pipelining))) {
            String name = node.semaphore(1);
            node.semaphores()
                    .acquire(AcquireRequest.of(name).withExternalId("gone").withTtl(Duration.ofMinutes(1)));
            schema.jdbc().update("delete from permit");

            List<String> warnings = LoggedWarnings.of(
                    "io.dbsemaphore",
                    () -> assertThat(other.semaphores()
                                    .find("gone")
                                    .orElseThrow()
                                    .release())
                            .isEqualTo(ReleaseOutcome.RELEASED));

            assertThat(warnings).isEmpty();
            assertThat(schema.jdbc().queryForObject("select state from permit_request", String.class))
                    .isEqualTo("RELEASED");
        }
    }

    private HikariDataSource pool(String setting) {
        return schema.newPool(config(setting));
    }

    private HikariConfig config(String setting) {
        HikariConfig config = schema.poolConfig(4, schema.jdbcUrl());
        config.setConnectionInitSql(setting);
        return config;
    }
}
