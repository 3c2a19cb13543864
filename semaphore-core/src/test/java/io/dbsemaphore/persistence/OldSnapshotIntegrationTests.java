package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.UUID;
import java.util.stream.LongStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** While a dump is open, the database cannot remove the index entries of permits that have been released since it began. */
@Slow
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OldSnapshotIntegrationTests {

    private static final int REPETITIONS = 30;
    private static final OwnLines QUEUES = new OwnLines(() -> 0, "test", name -> false);

    private final Schema schema = TestDatabase.create().migrate();
    private final HikariDataSource pool = schema.newPool(3);
    private OpenPersistence persistence;
    private Connection dump;

    @BeforeEach
    void releaseManyDuringADump() throws SQLException {
        persistence = OpenPersistence.on(pool);
        persistence.transactions().admin().create("calm", 1);
        persistence.transactions().admin().create("busy", 1);
        dump = pool.getConnection();
        dump.setAutoCommit(false);
        dump.setTransactionIsolation(Connection.TRANSACTION_REPEATABLE_READ);
        try (Statement statement = dump.createStatement()) {
            statement.execute("select count(*) from permit");
        }
        schema.jdbc().update("""
                insert into permit_request (id, external_id, owner, state, content_digest, renewed_at, created_at, updated_at)
                values (1, 'released', 'test', 'RELEASED', 'none', now(), now(), now())""");
        schema.jdbc().update("""
                insert into permit (id, semaphore_id, permit_request_id, count, exclusive, state, token)
                with recursive numbers(n) as (select 0 union all select n + 1 from numbers where n < 499)
                select 1 + a.n * 500 + b.n, s.id, 1, 1, 0, 'ACQUIRED', 1 + a.n * 500 + b.n
                from numbers a, numbers b, semaphore s where s.name = 'busy'""");
        schema.jdbc().update("update permit set state = 'RELEASED'");
        assertThat(acquire("calm")).isInstanceOf(GrantOutcome.Granted.class);
        assertThat(acquire("busy")).isInstanceOf(GrantOutcome.Granted.class);
    }

    @AfterEach
    void close() throws SQLException {
        dump.close();
        persistence.close();
        pool.close();
        schema.close();
    }

    @Measured
    @Test
    void hardlyDelayPolls() {
        long calm = median(() -> poll("calm"));
        long busy = median(() -> poll("busy"));

        Measurement.check(() -> assertThat(busy).isLessThan(4 * calm));
    }

    private void poll(String name) {
        assertThat(persistence
                        .transactions()
                        .availabilityTransactions()
                        .poll(Set.of(name), Set.of(), QUEUES)
                        .get(name)
                        .available())
                .isZero();
    }

    private GrantOutcome acquire(String name) {
        AcquireState acquire = new AcquireState(new AcquireCommand(
                UUID.randomUUID().toString(), false, true, Map.of(name, 1), false, null, "test", null, null));
        return persistence
                .transactions()
                .batches()
                .grant(() -> new GrantBatch(List.of(acquire), Set.of(), new TreeMap<>(), QUEUES))
                .outcomes()
                .get(0);
    }

    private static long median(Runnable work) {
        return LongStream.range(0, REPETITIONS)
                .map(i -> {
                    long begin = System.nanoTime();
                    work.run();
                    return System.nanoTime() - begin;
                })
                .sorted()
                .skip(REPETITIONS / 2)
                .findFirst()
                .orElseThrow();
    }
}
