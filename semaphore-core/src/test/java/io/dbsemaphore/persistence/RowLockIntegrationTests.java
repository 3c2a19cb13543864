package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.AcquireState;
import io.dbsemaphore.domain.GrantBatch;
import io.dbsemaphore.domain.GrantOutcome;
import io.dbsemaphore.domain.StoredGrant;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.Sessions;
import io.dbsemaphore.line.Ask;
import io.dbsemaphore.line.LineHead;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.line.Places;
import io.dbsemaphore.line.Waiter;
import io.dbsemaphore.persistence.SentStatements.Sent;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import jakarta.persistence.Column;
import jakarta.persistence.LockModeType;
import jakarta.persistence.Table;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.data.jpa.repository.Lock;

/**
 * Which of its two ways an acquire takes to lock the rows of its semaphores, shown by what it sends: the
 * {@code @Lock(PESSIMISTIC_WRITE)} query of the repository, or the same lock as SQL, in one piece with the sum. And that it
 * inserts all columns of the entities.
 */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RowLockIntegrationTests {

    private static final Duration LIMIT = Duration.ofSeconds(5);
    private static final Map<String, Integer> PERMITS = new TreeMap<>(Map.of("first", 1, "second", 2));

    private static Schema schema;

    @BeforeAll
    static void migrate() {
        schema = TestDatabase.create().migrate();
        try (Unit unit = new Unit("", true)) {
            PERMITS.keySet().forEach(name -> unit.persistence.admin().create(name, 100));
        }
    }

    @AfterAll
    static void drop() {
        schema.close();
    }

    @ParameterizedTest
    @CsvSource({"true, true", "true, false", "false, true", "false, false"})
    void locksByTheRepositoryOrInOneRoundTripWithTheSum(boolean pipelining, boolean awaited) {
        try (Unit unit = new Unit("", pipelining)) {
            unit.persistence.unit().start();

            unit.acquire(awaited);

            if (pipelining
                    && Set.of(DatabaseKind.MYSQL, DatabaseKind.POSTGRESQL).contains(schema.kind())) {
                assertLockedInOneRoundTripWithTheSum(unit, awaited);
            } else {
                assertLockedByTheRepository(unit, awaited);
            }
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void locksByTheRepositoryWhereTheServerPreparesStatements(boolean awaited) {
        try (Unit unit = new Unit("&useServerPrepStmts=true", true)) {
            unit.persistence.unit().start();

            unit.acquire(awaited);

            assertLockedByTheRepository(unit, awaited);
        }
    }

    /** The start of Hibernate would take longer than a caller is willing to wait. */
    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void locksBySqlUntilHibernateHasStarted(boolean awaited) {
        try (Unit unit = new Unit("", false)) {
            unit.acquire(awaited);

            assertThat(unit.persistence.unit().isStarted()).isEqualTo(false);
            assertThat(unit.locks()).hasSize(awaited ? PERMITS.size() : 1).noneMatch(Sent::byHibernate);
        }
    }

    private static void assertLockedByTheRepository(Unit unit, boolean awaited) {
        List<Sent> locks = unit.locks();
        assertThat(locks).hasSize(awaited ? PERMITS.size() : 1).allMatch(Sent::byHibernate);
        assertThat(locks).allSatisfy(lock -> {
            assertThat(lock.statements()).as("sent in one piece").hasSize(1);
            assertThat(lock.sql()).as("the entity").contains(columnsOf(Semaphore.class));
        });
        Sent sum = unit.sum();
        assertThat(sum.statements()).as("sent in one piece").hasSize(1);
    }

    private static void assertLockedInOneRoundTripWithTheSum(Unit unit, boolean awaited) {
        List<Sent> locks = unit.locks();
        assertThat(locks).hasSize(awaited ? PERMITS.size() : 1).noneMatch(Sent::byHibernate);
        assertThat(locks).allSatisfy(lock -> assertThat(lock.sql()).doesNotContain("created_at"));
        Sent last = locks.get(locks.size() - 1);
        assertThat(last).as("the last lock and the sum").isEqualTo(unit.sum());
        assertThat(last.statements()).hasSize(2);
        assertThat(last.statements().get(0)).contains("for update").doesNotContain("sum(");
        assertThat(last.statements().get(1)).contains("sum(").doesNotContain("for update");
    }

    @Test
    void theQueriesOfTheRepositoryAreLocks() {
        assertThat(Arrays.stream(SemaphoreRepository.class.getDeclaredMethods())
                        .filter(method -> Set.of("lockById", "lockSkipLocked").contains(method.getName())))
                .hasSize(2)
                .allSatisfy(method -> assertThat(method.getAnnotation(Lock.class))
                        .extracting(Lock::value)
                        .isEqualTo(LockModeType.PESSIMISTIC_WRITE));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void insertsTheColumnsOfTheMapping(boolean pipelining) {
        try (Unit unit = new Unit("", pipelining)) {
            StoredGrant granted = unit.acquire(true);

            assertThat(unit.insertedColumns(PermitRequest.class))
                    .containsExactlyInAnyOrder(columnsOf(PermitRequest.class));
            assertThat(unit.insertedColumns(Permit.class)).containsExactlyInAnyOrder(columnsOf(Permit.class));
            assertThat(unit.persistence.holds().find(granted.externalId()))
                    .get()
                    .usingRecursiveComparison()
                    .ignoringFields("readAt")
                    .isEqualTo(granted);
        }
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void insertsTheColumnsOfTheMappingForWaitingCallers(boolean pipelining) {
        try (Unit unit = new Unit("", pipelining)) {
            unit.acquireWhileOneWaits();

            assertThat(unit.insertedColumns(SemaphoreWaiter.class))
                    .containsExactlyInAnyOrder(columnsOf(SemaphoreWaiter.class));
        }
    }

    private static String[] columnsOf(Class<?> entity) {
        return Arrays.stream(entity.getDeclaredFields())
                .map(field -> field.getAnnotation(Column.class))
                .filter(column -> column != null)
                .map(Column::name)
                .toArray(String[]::new);
    }

    /** A persistence unit whose statements are recorded. */
    private static final class Unit implements AutoCloseable {

        private final HikariDataSource pool;
        private final SentStatements statements;
        private final Sessions connections;
        private final SemaphorePersistence persistence;

        Unit(String urlSuffix, boolean pipelining) {
            HikariConfig config = new HikariConfig();
            config.setJdbcUrl(schema.jdbcUrl() + urlSuffix);
            config.setUsername(schema.username());
            config.setPassword(schema.password());
            config.setMaximumPoolSize(2);
            pool = new HikariDataSource(config);
            statements = new SentStatements(pool);
            Database database = databaseOf(pool);
            DatabaseThreads threads = new DatabaseThreads(2, new DaemonThreads());
            connections = new Sessions(statements, database, LIMIT, LIMIT, 2, pipelining, threads);
            persistence = SemaphorePersistence.open(connections, database, "", LIMIT, TestSettings.oneTripFrom(), null);
        }

        private static Database databaseOf(HikariDataSource pool) {
            try {
                return Database.of(pool);
            } catch (SQLException failure) {
                throw new IllegalStateException(failure);
            }
        }

        /** Acquires, in one transaction that waits for locked rows, or skips them. */
        StoredGrant acquire(boolean awaited) {
            return acquire(awaited, new OwnLines(() -> 0, "", name -> false));
        }

        private StoredGrant acquire(boolean awaited, OwnLines local) {
            AcquireCommand command = new AcquireCommand(
                    "id-" + System.nanoTime(),
                    false,
                    true,
                    PERMITS,
                    false,
                    Duration.ofMinutes(5),
                    "owner",
                    null,
                    () -> 7);
            GrantBatch batch = new GrantBatch(
                    List.of(new AcquireState(command)), awaited ? PERMITS.keySet() : Set.of(), new TreeMap<>(), local);
            statements.clear();
            GrantOutcome outcome =
                    persistence.batches().grant(() -> batch).outcomes().get(0);
            assertThat(outcome).isInstanceOf(GrantOutcome.Granted.class);
            return ((GrantOutcome.Granted) outcome).grant();
        }

        /** Acquires while a caller waits for one of the semaphores, which the transaction tells the other instances. */
        void acquireWhileOneWaits() {
            LineHead queue =
                    new LineHead(List.of(new Waiter(Places.at(TimeUnit.DAYS.toMicros(20_000)), Ask.of(1), false)), 1);
            long instance = System.nanoTime();
            StoredGrant unused =
                    acquire(true, new OwnLines(() -> instance, "owner", "first"::equals).with(Map.of("first", queue)));
        }

        List<Sent> locks() {
            return statements.sent().stream()
                    .filter(sent ->
                            sent.sql().contains("from semaphore ") && sent.sql().contains(" update"))
                    .filter(sent -> sent.sql().startsWith("select"))
                    .toList();
        }

        Sent sum() {
            return statements.sent().stream()
                    .filter(sent -> sent.sql().contains("sum("))
                    .findFirst()
                    .orElseThrow();
        }

        List<String> insertedColumns(Class<?> entity) {
            String insert = "insert into " + entity.getAnnotation(Table.class).name() + "(";
            String statement = statements.sent().stream()
                    .flatMap(sent -> sent.statements().stream())
                    .filter(sql -> sql.startsWith(insert))
                    .findFirst()
                    .orElseThrow();
            return List.of(
                    statement.substring(insert.length(), statement.indexOf(')')).split(", "));
        }

        @Override
        public void close() {
            persistence.unit().close();
            connections.close();
            pool.close();
        }
    }
}
