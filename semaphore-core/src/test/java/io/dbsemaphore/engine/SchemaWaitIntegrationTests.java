package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestSettings;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An engine that starts while the changelog runs waits in each state of the tables, but for no table of another application. */
@Slow
@Timeout(120)
class SchemaWaitIntegrationTests {

    private static final Duration LONG = Duration.ofSeconds(60);

    /** The statements of the changelog before each of which an engine does not have all that it needs. */
    private static final List<String> STEPS = List.of(
            "semaphore (",
            "permit_request (",
            "permit (",
            "semaphore_instance (",
            "capacity_change (",
            "add checks",
            "add external_id",
            "add owner",
            "add permits",
            "semaphore_waiter (",
            "add waiters_until",
            "semaphore_share (",
            "add shares");

    /** Reads the columns, after a look at the tables has failed. */
    private static final String COMPARISON = "select * from capacity_change";

    private TestDatabase.Schema schema;
    private StatementGate changelog;
    private StatementGate gate;

    @BeforeEach
    void createEmptyDatabase() {
        schema = TestDatabase.create();
        changelog = new StatementGate(schema.newPool(2));
        gate = new StatementGate(schema.newPool(4));
    }

    @AfterEach
    void close() {
        changelog.close();
        gate.close();
        schema.close();
    }

    /** PostgreSQL changes a table within the transaction of the change set, which has locked it: there is no such state. */
    @Test
    void waitsInEachStateOfTheTables() throws Exception {
        TestDatabase.assumeKind(DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.H2);
        List<StatementGate.Pause> pauses =
                STEPS.stream().map(changelog::pauseBefore).toList();
        Future<?> migration = Concurrently.async(() -> schema.runChangelog(changelog));
        try (SemaphoreEngine engine = start(LONG)) {
            for (StatementGate.Pause pause : pauses) {
                pause.awaitReached(LONG);
                awaitWholeLook();
                pause.open();
            }

            engine.start(); // throws what the start failed with
            Concurrently.get(migration);
            assertThat(engine.admin().create("s", 1)).isEqualTo(true);
        }
    }

    /** All columns are there when they are compared, so that the error of the database is all that is known. */
    @Test
    void waitsWhereColumnsWereAddedSinceTheLook() throws Exception {
        StatementGate.Pause lastColumn = changelog.pauseBefore(STEPS.get(STEPS.size() - 1));
        StatementGate.Pause comparison = gate.pauseBefore("select * from semaphore where");
        Future<?> migration = Concurrently.async(() -> schema.runChangelog(changelog));
        lastColumn.awaitReached(LONG);
        try (SemaphoreEngine engine = start(LONG)) {
            comparison.awaitReached(LONG);
            lastColumn.open();
            Concurrently.get(migration);
            comparison.open();

            engine.start();
        }
    }

    /** Reading a table may conflict with the statement that changes it. */
    @Test
    void waitsWhereALookConflictsWithTheChangelog() {
        schema.migrate();
        gate.failBefore("capacity_change", new SQLException("on purpose", "40001", 1213));

        try (SemaphoreEngine engine = start(LONG)) {
            engine.start();
        }
        assertThat(gate.count("capacity_change")).as("statements of two looks").isGreaterThan(1);
    }

    @Test
    void failsAtTheDeadlineWhereAColumnIsMissing() {
        schema.migrate().jdbc().execute("alter table capacity_change drop column owner");

        try (SemaphoreEngine engine = start(Duration.ofSeconds(6))) {
            assertThatExceptionOfType(SemaphoreTableMismatchException.class)
                    .isThrownBy(engine::start)
                    .satisfies(failure -> assertThat(failure.missingColumns()).containsExactly("owner"));
        }
        assertThat(gate.count(COMPARISON)).as("looks").isGreaterThan(1);
    }

    @Test
    void doesNotWaitForATableOfAnotherApplication() {
        schema.migrate().jdbc().execute("drop table capacity_change");
        schema.jdbc().execute("create table capacity_change (id bigint not null primary key)");

        try (SemaphoreEngine engine = start(Duration.ofSeconds(5))) {
            assertThatExceptionOfType(SemaphoreTableMismatchException.class)
                    .isThrownBy(engine::start)
                    .satisfies(failure -> assertThat(failure.isForeign()).isEqualTo(true));
        }
        assertThat(gate.count(COMPARISON)).as("looks").isEqualTo(1);
    }

    private SemaphoreEngine start(Duration schemaWait) {
        return SemaphoreEngine.inBackground(
                gate,
                TestSettings.defaults(),
                List::of,
                List::of,
                List::of,
                () -> null,
                script -> {},
                schemaWait,
                admin -> {});
    }

    /** Of those that end from now on, the second has begun from now on. */
    private void awaitWholeLook() {
        long before = gate.count("rollback");
        Awaitility.await("another look")
                .atMost(Duration.ofSeconds(10))
                .until(() -> gate.count("rollback") >= before + 2);
    }
}
