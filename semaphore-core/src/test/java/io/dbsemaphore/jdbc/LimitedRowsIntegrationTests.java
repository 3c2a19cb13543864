package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.engine.UnsupportedDatabaseException;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.LimitedRows;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.BorrowedConnections;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.rerun.Promise;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.dao.IncorrectResultSizeDataAccessException;
import org.springframework.jdbc.core.JdbcTemplate;

/** A result that is cut is not taken for one in which something is missing. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Promise
class LimitedRowsIntegrationTests {

    private static final int OTHERS = 20;
    private static final Duration TTL = Duration.ofSeconds(2);

    private static Schema schema;

    @BeforeAll
    static void start() {
        schema = TestDatabase.create().migrate();
    }

    @AfterAll
    static void stop() {
        if (schema != null) {
            schema.close();
        }
    }

    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
    void liftsTheLimitOfASessionAndRestoresIt() throws SQLException {
        HikariConfig config = schema.poolConfig(3, schema.jdbcUrl());
        config.setConnectionInitSql("set session sql_select_limit = 1");
        try (HikariDataSource pool = schema.newPool(config);
                Node node = new Node(pool, TestSettings.defaults())) {
            assertCapacityKept(node);

            try (Connection connection = pool.getConnection()) {
                assertThat(BorrowedConnections.ask(connection, "select @@session.sql_select_limit"))
                        .containsExactly("1");
            }
        }
    }

    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void liftsTheLimitOfTheDriver() {
        String separator = schema.jdbcUrl().contains("?") ? "&" : "?";
        try (HikariDataSource pool = schema.newPool(schema.poolConfig(3, schema.jdbcUrl() + separator + "maxRows=1"));
                Node node = new Node(pool, TestSettings.defaults())) {
            assertCapacityKept(node);

            assertThat(new JdbcTemplate(pool).queryForList("select id from semaphore"))
                    .as("as the application has it")
                    .hasSize(1);
        }
    }

    @Test
    void liftsTheLimitOfStatements() {
        try (Node node = new Node(new LimitedRows(schema.newPool(3)), TestSettings.defaults())) {
            assertCapacityKept(node);
        }
    }

    /** An acquire of two names is refused while one of them is held, and all else of two names works, too. */
    private static void assertCapacityKept(Node node) {
        String free = node.semaphore(5);
        List<String> held = List.of(node.semaphore(1), node.semaphore(1), node.semaphore(1));
        PermitGrant holder = node.semaphores()
                .acquire(
                        AcquireRequest.of(held.get(0), held.get(1), held.get(2)).withTtl(Duration.ofMinutes(5)));

        for (String name : held) {
            assertThat(node.semaphores().tryAcquire(AcquireRequest.of(free, name)))
                    .isEmpty();
            assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name, free)))
                    .isEmpty();
        }
        assertThat(node.semaphores().find(holder.externalId()))
                .hasValueSatisfying(found -> assertThat(found.permits()).hasSize(3));
        assertThat(node.admin().list())
                .filteredOn(status -> held.contains(status.name()))
                .hasSize(3)
                .allMatch(status -> status.held() == 1);
        holder.release();
        for (String name : held) {
            node.semaphores().acquire(AcquireRequest.of(free, name).withTtl(Duration.ofSeconds(1)));
        }
        // what has expired is reclaimed whole
        PermitGrant again = node.semaphores()
                .acquire(AcquireRequest.of(held.get(0), held.get(1), held.get(2), free)
                        .withPermits(free, 5)
                        .withWaitTime(Duration.ofSeconds(20)));
        assertThat(held(free)).isEqualTo(5);
        again.release();
        assertThat(held(free)).isZero();
    }

    @Test
    void refusesToStartWhereResultsAreCut() {
        LimitedRows host = new LimitedRows(schema.newPool(3)).always();

        assertThatExceptionOfType(UnsupportedDatabaseException.class)
                .isThrownBy(() -> new Node(host, TestSettings.defaults()).close())
                .withMessageContaining("Expected: all rows of a result");
    }

    /** Two of three permits, all of whose rows no query returns. */
    @Test
    void refusesToDecideByResultsThatAreCut() {
        try (Node node = Node.on(schema);
                Node limited = limited()) {
            List<String> names = new ArrayList<>(List.of(node.semaphore(1), node.semaphore(1)));
            PermitGrant holder = node.semaphores().acquire(AcquireRequest.of(names.get(0), names.get(1)));

            assertThatThrownBy(() -> limited.semaphores().tryAcquire(AcquireRequest.of(names.get(0), names.get(1))))
                    .isInstanceOf(IncorrectResultSizeDataAccessException.class)
                    .hasMessageContaining("1 of the 2 rows")
                    .hasMessageContaining("grants nothing")
                    .hasMessageContaining("sql_select_limit");

            assertThat(names).allMatch(name -> held(name) == 1);
            assertThat(node.semaphores().find(holder.externalId())).isPresent();
        }
    }

    /** Each of many names alone, so that the limit meets a different row of each statement. */
    @Test
    void grantsNothingThatIsHeldWhateverIsCut() {
        try (Node node = Node.on(schema);
                Node limited = limited()) {
            String free = node.semaphore(1_000);
            List<String> names = new ArrayList<>();
            for (int i = 0; i < OTHERS; i++) {
                names.add(node.semaphore(1));
                node.semaphores().acquire(AcquireRequest.of(names.get(i)));
            }
            // the ids of the names are known from now on: the first rows that are cut are those of the locks and sums
            limited.semaphores().acquire(AcquireRequest.of(free)).release();
            for (String name : names) {
                assertThat(limited.semaphores().tryAcquire(AcquireRequest.of(name)))
                        .isEmpty();
                try {
                    assertThat(limited.semaphores().tryAcquire(AcquireRequest.of(free, name)))
                            .isEmpty();
                } catch (IncorrectResultSizeDataAccessException cut) {
                    assertThat(cut.getActualSize()).isLessThan(cut.getExpectedSize());
                }
            }
            assertThat(names).allMatch(name -> held(name) == 1);
            assertThat(held(free)).isZero();
        }
    }

    /** Otherwise the one permit that is found would be released with the request, and the other one lost for ever. */
    @Test
    void reclaimsARequestWholeOrNotAtAll() {
        try (Node node = Node.on(schema);
                Node limited = limited()) {
            String one = node.semaphore(1);
            String other = node.semaphore(1);
            PermitGrant dead =
                    node.semaphores().acquire(AcquireRequest.of(one, other).withTtl(Duration.ofSeconds(1)));
            schema.jdbc()
                    .update(
                            "update permit_request set expires_at = created_at where external_id = ?",
                            dead.externalId());

            assertThatThrownBy(() -> limited.maintenance().releaseOrphans())
                    .isInstanceOf(IncorrectResultSizeDataAccessException.class);
            assertThat(Map.of(one, held(one), other, held(other))).isEqualTo(Map.of(one, 1L, other, 1L));

            assertThat(node.maintenance().releaseOrphans()).isPositive();
            assertThat(Map.of(one, held(one), other, held(other))).isEqualTo(Map.of(one, 0L, other, 0L));
        }
    }

    private static long held(String name) {
        Long held = schema.jdbc()
                .queryForObject(
                        "select coalesce(sum(p.count), 0) from permit p join semaphore s on s.id = p.semaphore_id"
                                + " where s.name = ? and p.state = 'ACQUIRED'",
                        Long.class,
                        name);
        return held == null ? 0 : held;
    }

    /** A node on a data source that has limited its statements whenever they are executed, since the start. */
    private static Node limited() {
        LimitedRows host = new LimitedRows(schema.newPool(3));
        Node node = new Node(host, TestSettings.defaults().with(MaintenanceSettings.ENABLED, false));
        host.always();
        return node;
    }
}
