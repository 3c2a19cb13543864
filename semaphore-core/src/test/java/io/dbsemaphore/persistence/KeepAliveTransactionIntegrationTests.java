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
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.stream.LongStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

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
        persistence = SemaphorePersistence.open(connections, database, "", limit, null);
    }

    @AfterEach
    void close() {
        persistence.close();
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

        persistence.holds().renew(ids, outcome -> {
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
                        id, "r" + id, "test", List.of(new StoredPermit(id, "s", 1, id)), null, read, null, read))
                .toList();

        assertThat(persistence.holds().findEnded(grants).alive()).hasSize(66_000);
    }

    @Test
    void reportsLostRequests() {
        insert(List.of(100_001L), now.plusMinutes(1));
        insert(List.of(100_002L), now.minusMinutes(1));

        persistence.holds().renew(List.of(100_001L, 100_002L, 100_003L), outcome -> {
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
