package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.Sessions;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.LongStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.jdbc.core.RowCallbackHandler;

@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KeepAliveTransactionIntegrationTests {

    private final LocalDateTime now = LocalDateTime.now(ZoneOffset.UTC);

    private static Schema schema;

    private Sessions connections;
    private SemaphorePersistence persistence;

    @BeforeAll
    static void migrate() {
        schema = TestDatabase.create().migrate();
    }

    @AfterAll
    static void drop() {
        schema.close();
    }

    @BeforeEach
    void open() throws SQLException {
        Duration limit = Duration.ofSeconds(5);
        Database database = Database.of(schema.newPool(1));
        DataSource pool = schema.newPool(2);
        connections = new Sessions(pool, database, limit, limit, 2, true, new DatabaseThreads(2, new DaemonThreads()));
        persistence = SemaphorePersistence.open(connections, database, "", limit, TestSettings.oneTripFrom(), null);
    }

    @AfterEach
    void close() {
        persistence.unit().close();
        connections.close();
    }

    /** PostgreSQL's protocol allows 65,535 values in a statement. */
    @Test
    @EnabledOnDatabase(DatabaseKind.POSTGRESQL)
    void renewsMoreRequestsThanAStatementMayHaveValues() {
        List<Long> ids = LongStream.rangeClosed(1, 66_000).boxed().toList();
        insert(ids, now.plusMinutes(30));
        schema.jdbc().execute("analyze permit_request"); // as autovacuum does: without it no index is used
        Set<Long> held = new HashSet<>();

        persistence.holds().renew(forAnHour(ids), outcome -> {
            held.addAll(outcome.held());
            assertThat(outcome.lost()).isEmpty();
        });

        assertThat(held).hasSize(66_000);
        assertThat(count("id <= 66000 and expires_at > renewed_at and renewed_at > created_at"))
                .isEqualTo(66_000);
    }

    /** Many grants that are not kept alive may expire while the database is away. */
    @Test
    @EnabledOnDatabase(DatabaseKind.POSTGRESQL)
    void findsTheEndOfMoreRequestsThanAStatementMayHaveValues() {
        List<Long> ids = LongStream.rangeClosed(200_001, 266_000).boxed().toList();
        insert(ids, now.plusMinutes(30));
        schema.jdbc().execute("analyze permit_request");

        Instant read = StoredGrant.instant(now);
        List<StoredGrant> grants = ids.stream()
                .map(id -> new StoredGrant(
                        id,
                        "r" + id,
                        "test",
                        null,
                        List.of(new StoredPermit(id, 1, "s", 1, id)),
                        null,
                        read,
                        null,
                        read))
                .toList();

        assertThat(persistence.holds().findEnded(grants).alive()).hasSize(66_000);
    }

    @Test
    void reportsLostRequests() {
        insert(List.of(100_001L), now.plusMinutes(1));
        insert(List.of(100_002L), now.minusMinutes(1));

        persistence.holds().renew(forAnHour(List.of(100_001L, 100_002L, 100_003L)), outcome -> {
            assertThat(outcome.held()).containsExactly(100_001L);
            assertThat(outcome.lost()).containsExactly(100_002L, 100_003L);
        });
        persistence.holds().confirm(List.of(100_001L, 100_002L, 100_003L), outcome -> {
            assertThat(outcome.held()).containsExactly(100_001L);
            assertThat(outcome.lost()).containsExactly(100_002L, 100_003L);
        });

        assertThat(count("id = 100002 and renewed_at > created_at"))
                .as("lost requests are not renewed")
                .isZero();
    }

    /** Several times in each statement, which are more than 500 in all; each time to live in the table is an hour. */
    @Test
    void renewsEachForItsOwnTimeAndShortensNone() {
        List<Long> ids = LongStream.rangeClosed(300_001, 300_600).boxed().toList();
        insert(ids, now.plusMinutes(1));
        insert(List.of(300_601L), now.plusMinutes(30));
        Map<Long, Long> millis = new TreeMap<>(Map.of(300_601L, 1_000L));
        ids.forEach(id -> millis.put(id, Duration.ofMinutes(10 + id % 7).toMillis()));
        Set<Long> held = new HashSet<>();

        persistence.holds().renew(millis, outcome -> {
            held.addAll(outcome.held());
            assertThat(outcome.lost()).isEmpty();
        });

        assertThat(held).isEqualTo(millis.keySet());
        schema.jdbc()
                .query(
                        "select id, renewed_at, expires_at from permit_request where id between 300001 and 300600",
                        (RowCallbackHandler) row -> assertThat(Duration.between(
                                        row.getObject(2, LocalDateTime.class), row.getObject(3, LocalDateTime.class)))
                                .isCloseTo(Duration.ofMinutes(10 + row.getLong(1) % 7), Duration.ofSeconds(5)));
        assertThat(count("id = 300601 and renewed_at = created_at"))
                .as("ends later already")
                .isEqualTo(1);
    }

    private static Map<Long, Long> forAnHour(List<Long> ids) {
        return ids.stream().collect(Collectors.toMap(id -> id, id -> 3_600_000L));
    }

    private void insert(List<Long> ids, LocalDateTime expiry) {
        for (int from = 0; from < ids.size(); from += 3_000) {
            StringBuilder sql = new StringBuilder("insert into permit_request (id, external_id, owner, state,"
                    + " content_digest, ttl_millis, expires_at, renewed_at, created_at, updated_at) values ");
            ids.subList(from, Math.min(from + 3_000, ids.size()))
                    .forEach(id -> sql.append("(%d, 'r-%d', 'o', 'ACQUIRED', 'd', 3600000, '%s', '%s', '%s', '%s'),"
                            .formatted(id, id, time(expiry), time(now), time(now), time(now))));
            schema.jdbc().execute(sql.substring(0, sql.length() - 1));
        }
    }

    private static String time(LocalDateTime time) {
        return time.withNano(0).toString().replace('T', ' ');
    }

    private static long count(String condition) {
        Long count = schema.jdbc().queryForObject("select count(*) from permit_request where " + condition, Long.class);
        return count == null ? -1 : count;
    }
}
