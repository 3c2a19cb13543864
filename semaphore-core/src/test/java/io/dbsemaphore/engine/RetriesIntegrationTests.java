package io.dbsemaphore.engine;

import static io.dbsemaphore.testing.Concurrently.async;
import static io.dbsemaphore.testing.Concurrently.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import io.dbsemaphore.testing.node.Waits;
import io.dbsemaphore.testing.node.Wish;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import org.springframework.dao.CannotAcquireLockException;
import org.springframework.dao.DataAccessException;

/** Other transactions are in the way, and sessions are killed: this is tried again, and never half done. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RetriesIntegrationTests extends RetryFixture {

    private static final Duration LOCK_WAIT = Duration.ofSeconds(1);

    private final Waits waits = new Waits(schema);
    private final List<Throwable> retried = new CopyOnWriteArrayList<>();
    private final Node node = nodes.start(TestSettings.limits(1, 10, ATTEMPTS), new SemaphoreListener() {
        @Override
        public void retried(Retried event) {
            retried.add(event.failure());
        }
    });

    @ParameterizedTest
    @EnumSource(names = {"ONE_NAME_WITH_ID", "SEVERAL_NAMES"})
    void waitsForALockLongerThanOneAttemptDoes(Wish wish) throws Exception {
        AcquireRequest request = wish.on(node).withWaitTime(SOON.multipliedBy(3));
        node.gate().clear();
        Future<PermitGrant> acquired;
        try (RowLock lock = lockLastOf(request)) {
            acquired = async(() -> node.semaphores().acquire(request));
            Awaitility.await().atMost(SOON).until(() -> attempts() >= 2);
        }

        PermitGrant grant = get(acquired, SOON);

        assertThat(grant.isReplayed()).isFalse();
        rows.assertHeldByOnly(grant);
    }

    @Measured
    @ParameterizedTest
    @EnumSource(names = "SEVERAL_NAMES")
    void givesUpAfterOneLockWaitWhereItsCallerDoesNotWait(Wish wish) throws SQLException {
        AcquireRequest request = wish.on(node);
        Duration took;
        node.gate().clear();
        try (RowLock lock = lockLastOf(request)) {
            long begun = System.nanoTime();

            Throwable thrown = catchThrowable(() -> node.semaphores().acquire(request));

            took = Duration.ofNanos(System.nanoTime() - begun);
            assertThat(took).isGreaterThanOrEqualTo(LOCK_WAIT.minusMillis(100));
            assertThat(thrown).isInstanceOf(CannotAcquireLockException.class);
            assertThat(attempts()).isEqualTo(1);
            rows.assertNothingHeld(request.permits().keySet());
        }
        node.semaphores().acquire(request).close();
        Measurement.check(
                () -> assertThat(took).isLessThanOrEqualTo(Duration.ofMillis(4500))); // the decision timeout is 5 s
    }

    /** Another transaction has inserted the same id, and then waits for the semaphore, which the acquire has locked. */
    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB}) // PostgreSQL looks for one after a second only
    void triesAgainAfterADeadlock() throws Exception {
        AcquireRequest request = Wish.ONE_NAME_WITH_ID.on(node).withWaitTime(SOON);
        String name = request.permits().keySet().iterator().next();
        node.gate().clear();
        Pause locked = node.gate().pauseAfter("sum(");
        Future<PermitGrant> acquired;
        try (RowLock other = RowLock.begin(schema)) {
            other.execute(
                    "insert into permit_request (id, external_id, owner, state, content_digest, renewed_at, created_at,"
                            + " updated_at) values (-1, ?, 'test', 'ACQUIRED', 'test', now(), now(), now())",
                    request.externalId().orElseThrow());
            // the transaction that has written more is not the victim
            for (int row = 0; row < 50; row++) {
                other.execute(
                        "insert into capacity_change (id, semaphore_name, from_capacity, to_capacity, changed_by,"
                                + " reason, changed_at) values (?, 'scratch', 0, 0, 'test', 'test', now())",
                        -row);
            }
            acquired = async(() -> node.semaphores().acquire(request));
            locked.awaitReached(SOON);
            Future<RowLock> crossed = async(() -> other.lockSemaphore(name));
            waits.await("where name =");
            locked.open();
            get(crossed, SOON);
        }

        PermitGrant grant = get(acquired, SOON);

        assertThat(node.gate().count(INSERT)).as("attempts").isEqualTo(2);
        Awaitility.await().atMost(SOON).until(() -> !retried.isEmpty());
        assertThat(retried).first().matches(SqlErrors::isVictim, "a deadlock, not a lock wait that timed out");
        assertThat(grant.isReplayed()).isFalse();
        rows.assertHeldByOnly(grant);
    }

    /** As it is where several servers are written to, and one is often faster. */
    @Test
    void goesOnAfterAsManyConflictsAsThereAreWhileItsCallerWaits() {
        AcquireRequest request = Wish.ONE_NAME.on(node);
        node.gate().clear();
        int conflicts = 3 * ATTEMPTS;
        for (int i = 0; i < conflicts; i++) {
            node.gate().failBefore(INSERT, new SQLException("on purpose", "40001", 1213));
        }

        PermitGrant grant = node.semaphores().acquire(request.withWaitTime(Duration.ofMinutes(1)));

        assertThat(node.gate().count("update semaphore")).as("attempts").isEqualTo(conflicts + 1);
        rows.assertHeldByOnly(grant);
    }

    @Test
    void triesAgainAfterMoreConflictsThanAttemptsWhereItsCallerDoesNotWait() {
        AcquireRequest request = Wish.ONE_NAME.on(node);
        node.gate().clear();
        conflict(node, 4 * ATTEMPTS);

        PermitGrant grant = node.semaphores().acquire(request);

        assertThat(node.gate().count("update semaphore")).as("attempts").isEqualTo(4 * ATTEMPTS + 1);
        rows.assertHeldByOnly(grant);
    }

    @Measured
    @Test
    void givesUpAfterTheDecisionTimeoutWhereItsCallerDoesNotWait() {
        Node impatient = nodes.start(
                TestSettings.limits(1, 10, ATTEMPTS).with(SemaphoreSettings.DECISION_TIMEOUT, Duration.ofSeconds(3)));
        AcquireRequest request = Wish.ONE_NAME.on(impatient);
        conflict(impatient, 2_000);
        long begun = System.nanoTime();

        assertThatThrownBy(() -> impatient.semaphores().acquire(request))
                .isInstanceOf(CannotAcquireLockException.class);

        Duration elapsed = Duration.ofNanos(System.nanoTime() - begun);
        assertThat(elapsed).isGreaterThanOrEqualTo(Duration.ofSeconds(3));
        rows.assertNothingHeld(request.permits().keySet());
        Measurement.check(() -> assertThat(elapsed).isLessThan(Duration.ofMillis(4500)));
    }

    private static void conflict(Node node, int times) {
        for (int i = 0; i < times; i++) {
            node.gate().failBefore(INSERT, new SQLException("on purpose", "40001", 1213));
        }
    }

    @Test
    void keepsNothingOfAnAcquireWhoseInsertTimesOut() throws SQLException {
        AcquireRequest request = Wish.SEVERAL_NAMES_WITH_ID.on(node);
        String name = request.permits().keySet().iterator().next();
        long fence = rows.fence(name);
        try (RowLock lock = RowLock.begin(schema)) {
            // a request of the same id that is neither committed nor rolled back
            lock.execute(
                    "insert into permit_request (id, external_id, owner, instance, state, content_digest, renewed_at,"
                            + " created_at, updated_at) values (1, ?, 'test', 1, 'RELEASED', '', now(), now(), now())",
                    request.externalId().orElseThrow());
            node.gate().clear();

            assertThatThrownBy(() -> node.semaphores().acquire(request)).isInstanceOf(DataAccessException.class);

            assertThat(node.gate().count(INSERT)).isEqualTo(1);
        }
        assertThat(node.gate().count("update semaphore")).isEqualTo(1);
        assertThat(rows.fence(name)).isEqualTo(fence);
        rows.assertNothingHeld(request.permits().keySet());
        node.semaphores().acquire(request).close();
    }

    @Test
    void keepsNothingOfAReleaseWhosePermitIsLocked() throws SQLException {
        AcquireRequest request = Wish.SEVERAL_NAMES_WITH_ID.on(node);
        PermitGrant grant = node.semaphores().acquire(request);
        String id = grant.externalId();
        try (RowLock lock = RowLock.begin(schema)) {
            lock.execute(
                    "select p.state from permit p join permit_request r on r.id = p.permit_request_id"
                            + " where r.external_id = ? "
                            + (schema.kind() == DatabaseKind.POSTGRESQL ? "for share" : "lock in share mode"),
                    id);

            assertThat(grant.release()).isEqualTo(ReleaseOutcome.DEFERRED);

            assertThat(rows.states(id)).containsExactly("ACQUIRED");
            request.permits()
                    .keySet()
                    .forEach(name -> assertThat(rows.held(name)).isEqualTo(1));
            assertThat(grant.isHeld()).isFalse();
        }
        rows.awaitNothingHeld(SOON, request.permits().keySet());
    }

    @Test
    void saysThatItWasInterruptedBetweenTwoAttempts() throws Exception {
        AcquireRequest request = Wish.ONE_NAME_WITH_ID.on(node).withWaitTime(SOON);
        FutureTask<Throwable> acquire = new FutureTask<>(() -> {
            Throwable thrown = catchThrowable(() -> node.semaphores().acquire(request));
            assertThat(Thread.currentThread().isInterrupted()).isTrue();
            return thrown;
        });
        Thread thread = new Thread(acquire, "interrupted");
        try (RowLock lock = lockLastOf(request)) {
            thread.start();
            waits.await("from semaphore");
            thread.interrupt();

            assertThat(acquire.get(SOON.toSeconds(), TimeUnit.SECONDS)).isInstanceOf(AcquireInterruptedException.class);
        }
        rows.assertNothingHeld(request.permits().keySet());
        node.semaphores().acquire(request).close();
    }

    private RowLock lockLastOf(AcquireRequest request) throws SQLException {
        String last = request.permits().keySet().stream()
                .reduce((former, latter) -> latter)
                .orElseThrow();
        return RowLock.ofSemaphore(schema, last);
    }

    /** How often a row was waited for; a transaction waits for one at most. */
    private long attempts() {
        return node.gate().statements().stream()
                .filter(statement -> statement.contains(LOCK) && !statement.contains("skip locked")) // do not wait
                .count();
    }
}
