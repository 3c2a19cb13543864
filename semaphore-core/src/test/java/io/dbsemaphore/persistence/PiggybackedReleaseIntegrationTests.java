package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.Sessions;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.RowLock;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.concurrent.Future;
import java.util.concurrent.TimeoutException;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Grant transactions that release a grant whose permit another transaction has locked: it stays held, all else is decided. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PiggybackedReleaseIntegrationTests {

    private final Schema schema = TestDatabase.create().migrate();
    private Sessions connections;
    private SemaphorePersistence persistence;
    private StoredGrant held;

    @BeforeEach
    void open() throws SQLException {
        Duration limit = Duration.ofSeconds(5);
        Database database = Database.of(schema.newPool(1));
        DataSource pool = schema.newPool(2);
        connections = new Sessions(pool, database, limit, limit, 2, true, new DatabaseThreads(2, new DaemonThreads()));
        persistence = SemaphorePersistence.open(connections, database, "", limit, TestSettings.oneTripFrom(), null);
        persistence.admin().create("a", 2);
        persistence.admin().create("b", 1);
        held = granted(grant(acquire("a", false), new TreeMap<>()));
    }

    @AfterEach
    void close() {
        persistence.unit().close();
        connections.close();
        schema.close();
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void isSkippedByAnAcquire(boolean withExternalId) throws SQLException {
        assertSkipped(acquire("a", withExternalId));
    }

    /** The semaphore's id is looked up. */
    @Test
    void isSkippedByTheFirstAcquireOfASemaphore() throws SQLException {
        assertSkipped(acquire("b", false));
    }

    @Test
    void isSkippedAsAWholeWhereOneOfItsPermitsIsLocked() throws SQLException {
        StoredGrant two = granted(grant(acquire(Map.of("a", 1, "b", 1), false), new TreeMap<>()));
        SortedMap<Long, List<Long>> releases = releaseOf(two);
        releases.putAll(releaseOf(held));
        BatchResult result;
        try (RowLock lock = RowLock.begin(schema)) {
            lock.execute(
                    "select id from permit where id = ? for update",
                    two.permits().get(1).id());
            result = grant(acquire("a", false), releases);
        }

        assertThat(result.released()).containsOnlyKeys(held.requestId());
        assertThat(granted(result).permits()).hasSize(1);
        assertThat(states("permit", "permit_request_id", two)).containsExactly("ACQUIRED", "ACQUIRED");
        assertThat(states("permit_request", "id", two)).containsExactly("ACQUIRED");
        assertThat(states("permit", "permit_request_id", held)).containsExactly("RELEASED");
        assertThat(states("permit_request", "id", held)).containsExactly("RELEASED");
    }

    @Test
    void waitsForARenewal() throws Exception {
        Future<BatchResult> result;
        try (Connection renewal = schema.newPool(1).getConnection()) {
            renewal.setAutoCommit(false);
            try (Statement statement = renewal.createStatement()) {
                statement.executeUpdate("update permit_request set owner = 'renewed' where id = " + held.requestId());
            }
            result = Concurrently.async(() -> grant(acquire("a", false), releaseOf(held)));
            assertThat(result).failsWithin(Duration.ofMillis(100)).withThrowableOfType(TimeoutException.class);
            renewal.commit();
        }

        assertThat(Concurrently.get(result).released()).containsOnlyKeys(held.requestId());
        assertThat(states("permit", "permit_request_id", held)).containsExactly("RELEASED");
        assertThat(states("permit_request", "id", held)).containsExactly("RELEASED");
    }

    private List<String> states(String table, String column, StoredGrant grant) {
        return schema.jdbc()
                .queryForList(
                        "select state from " + table + " where " + column + " = ?", String.class, grant.requestId());
    }

    private void assertSkipped(AcquireState acquire) throws SQLException {
        BatchResult result;
        try (RowLock lock = RowLock.ofPermits(schema, held.externalId())) {
            result = grant(acquire, releaseOf(held));
        }

        assertThat(result.released()).isEmpty();
        assertThat(granted(result).externalId()).isEqualTo(acquire.command().externalId());
        assertThat(schema.jdbc().queryForList("select state from permit_request", String.class))
                .containsExactly("ACQUIRED", "ACQUIRED");
    }

    private BatchResult grant(AcquireState acquire, SortedMap<Long, List<Long>> releases) {
        OwnLines queues = new OwnLines(() -> 0, "test", name -> false);
        return persistence.batches().grant(() -> new GrantBatch(List.of(acquire), Set.of(), releases, queues));
    }

    private static AcquireState acquire(String name, boolean withExternalId) {
        return acquire(Map.of(name, 1), withExternalId);
    }

    private static AcquireState acquire(Map<String, Integer> permits, boolean withExternalId) {
        String externalId = UUID.randomUUID().toString();
        return new AcquireState(
                new AcquireCommand(externalId, withExternalId, true, permits, false, null, "test", null, null));
    }

    private static StoredGrant granted(BatchResult result) {
        return ((GrantOutcome.Granted) result.outcomes().get(0)).grant();
    }

    private static SortedMap<Long, List<Long>> releaseOf(StoredGrant grant) {
        return new TreeMap<>(Map.of(
                grant.requestId(),
                grant.permits().stream().map(StoredPermit::id).toList()));
    }
}
