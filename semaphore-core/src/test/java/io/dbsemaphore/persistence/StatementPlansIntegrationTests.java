package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.BatchResult;
import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.domain.StoredGrant.StoredPermit;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import java.sql.SQLException;
import java.util.HashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.SortedMap;
import java.util.TreeMap;
import java.util.UUID;
import java.util.function.Function;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What PostgreSQL has to parse, plan and read for a batch. */
@EnabledOnDatabase(DatabaseKind.POSTGRESQL)
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class StatementPlansIntegrationTests {

    private static final int SEMAPHORES = 8;

    private final Schema schema = TestDatabase.create().migrate();
    private final HikariDataSource pool = schema.newPool(2);
    private final SentStatements statements = new SentStatements(pool);
    private OpenPersistence persistence;

    @BeforeEach
    void open() throws SQLException {
        persistence = OpenPersistence.on(statements);
        IntStream.range(0, SEMAPHORES)
                .forEach(i -> persistence.transactions().admin().create("s" + i, 4));
    }

    @AfterEach
    void close() {
        persistence.close();
        schema.close();
    }

    @Test
    void aBatchHasTheSameTextsForEveryNumberOfCallers() {
        grantEach(SEMAPHORES); // reads the ids of the semaphores
        Map<Integer, Set<String>> texts = IntStream.rangeClosed(2, SEMAPHORES)
                .boxed()
                .collect(Collectors.toMap(Function.identity(), this::textsOfGrantAndRelease));

        assertThat(texts.values()).containsOnly(texts.get(SEMAPHORES));
    }

    private Set<String> textsOfGrantAndRelease(int callers) {
        statements.clear();
        assertThat(release(grantEach(callers))).hasSize(callers);
        Set<String> texts = new HashSet<>();
        statements.sent().forEach(sent -> texts.add(sent.sql()));
        return texts;
    }

    /** The tables are new: there are no statistics for the planner. */
    @Test
    void aReleaseOfSeveralDoesNotReadWhatWasReleasedBefore() {
        int released = 5_000;
        schema.jdbc().execute("alter table permit_request set (autovacuum_enabled = false)");
        schema.jdbc().execute("""
                insert into permit_request(id, external_id, owner, state, content_digest, renewed_at, created_at, updated_at)
                select -id, 'r' || id, 'test', 'ACQUIRED', 'none', now(), now(), now() from generate_series(1, %d) as id""".formatted(released));
        schema.jdbc().execute("update permit_request set state = 'RELEASED'");

        assertThat(release(grantEach(4))).hasSize(4);

        pool.close(); // the last statistics of a session are written at its end
        await().untilAsserted(() -> assertThat(schema.jdbc()
                        .queryForObject(
                                "select sum(idx_tup_read) from pg_stat_user_indexes where relname = 'permit_request'",
                                Long.class))
                .isBetween(4L, released / 10L));
    }

    /** One grant of each of the first semaphores, in one batch. */
    private List<StoredGrant> grantEach(int callers) {
        List<AcquireState> acquires = IntStream.range(0, callers)
                .mapToObj(i -> new AcquireState(new AcquireCommand(
                        UUID.randomUUID().toString(),
                        false,
                        true,
                        Map.of("s" + i, 1),
                        false,
                        null,
                        "test",
                        null,
                        null)))
                .toList();
        OwnLines queues = new OwnLines(() -> 0, "test", name -> false);
        BatchResult result = persistence
                .transactions()
                .batches()
                .grant(() -> new GrantBatch(acquires, Set.of(), new TreeMap<>(), queues));
        return result.outcomes().stream()
                .map(outcome -> ((GrantOutcome.Granted) outcome).grant())
                .toList();
    }

    private Set<Long> release(List<StoredGrant> grants) {
        SortedMap<Long, List<Long>> permitIds = new TreeMap<>();
        grants.forEach(grant -> permitIds.put(
                grant.requestId(),
                grant.permits().stream().map(StoredPermit::id).toList()));
        return persistence
                .transactions()
                .batches()
                .release(permitIds, false, false)
                .released()
                .keySet();
    }
}
