package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.dao.CannotAcquireLockException;

/** A decision that is under way when the wait time ends is awaited, for a bounded time, and is the caller's answer. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DecisionTimeoutIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration WAIT_TIME = Duration.ofMillis(50);

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final Node node = cluster.node(0);
    private final StatementGate gate = node.gate();

    @AfterEach
    void open() {
        gate.close();
        gate.clear();
    }

    @Test
    void aRefusalThatComesLateIsARefusal() throws Exception {
        String name = cluster.semaphore(1);
        PermitGrant held = node.semaphores().acquire(AcquireRequest.of(name));
        Pause deciding = gate.pauseBefore("sum(");
        Future<Optional<PermitGrant>> late = late(AcquireRequest.of(name));
        deciding.awaitReached(SOON);
        Concurrently.assertWaits(late); // 400 ms, beyond the wait time
        Concurrently.assertWaits(late);

        deciding.open();

        assertThat(Concurrently.get(late)).isEmpty();
        held.release();
        assertThat(cluster.held(name)).isZero();
    }

    @Test
    void aGrantThatComesLateIsAGrant() throws Exception {
        String name = cluster.semaphore(1);
        Pause committing = gate.pauseBeforeCommitOf("insert into permit_request");
        Future<Optional<PermitGrant>> late = late(AcquireRequest.of(name));
        committing.awaitReached(SOON);
        Concurrently.assertWaits(late);
        Concurrently.assertWaits(late);

        committing.open();

        assertThat(Concurrently.get(late))
                .hasValueSatisfying(
                        grant -> assertThat(grant.isHeld()).as("held").isEqualTo(true));
        assertThat(cluster.held(name)).isEqualTo(1);
    }

    @Measured
    @Test
    void whoeverDoesNotWaitIsBoundedByOneLockWait() throws Exception {
        String name = cluster.semaphore(1);
        Duration took;
        try (Node impatient = Node.on(cluster.schema(), TestSettings.limits(1, 10, 3));
                RowLock lock = cluster.lock(name)) {
            impatient.gate().clear();
            long begun = System.nanoTime();

            assertThatThrownBy(() -> impatient.semaphores().tryAcquire(AcquireRequest.of(name)))
                    .isInstanceOf(CannotAcquireLockException.class);

            took = Duration.ofNanos(System.nanoTime() - begun);
            assertThat(took).isGreaterThanOrEqualTo(Duration.ofMillis(900));
            assertThat(impatient.gate().statements())
                    .filteredOn(sql ->
                            sql.contains("from semaphore ") && sql.contains(" for ") && !sql.contains("skip locked"))
                    .as("lock waits")
                    .hasSize(1);
        }
        assertThat(cluster.held(name)).isZero();
        Measurement.check(
                () -> assertThat(took).isLessThanOrEqualTo(Duration.ofMillis(4500))); // the decision timeout is 5 s
    }

    /** The statement that waits at the deadline ends within a second. */
    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1300, 1700, 2000})
    void answersACallerAtItsDeadlineWhileItsRowIsLocked(int waitMillis) throws Exception {
        String name = cluster.semaphore(1);
        Duration waitTime = Duration.ofMillis(waitMillis);
        List<Duration> answered;
        try (RowLock lock = cluster.lock(name)) {
            answered = Concurrently.call(3, SOON, caller -> {
                long begun = System.nanoTime();
                assertThatThrownBy(() -> node.semaphores()
                                .tryAcquire(AcquireRequest.of(name).withWaitTime(waitTime)))
                        .isInstanceOf(CannotAcquireLockException.class)
                        .hasMessageContaining(name)
                        .hasMessageContaining("was locked")
                        .hasMessageContaining("Nothing is held");
                return Duration.ofNanos(System.nanoTime() - begun);
            });
        }
        assertThat(cluster.held(name)).isZero();
        assertThat(answered).allSatisfy(each -> assertThat(each).isGreaterThanOrEqualTo(waitTime));
        Measurement.check(() -> assertThat(answered)
                .allSatisfy(each -> assertThat(each).isLessThanOrEqualTo(waitTime.plusMillis(1100))));
    }

    @Measured
    @Test
    void answersACallerThatWasRefusedBeforeItsRowWasLockedByWhatItWasRefusedFor() throws Exception {
        String name = cluster.semaphore(1);
        PermitGrant held = node.semaphores().acquire(AcquireRequest.of(name));
        Duration waitTime = Duration.ofSeconds(5);
        long deadline = System.nanoTime() + waitTime.toNanos();
        Future<PermitGrant> waiting = Concurrently.async(
                () -> node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(waitTime)));
        await().until(() -> node.admin().find(name).orElseThrow().waiting() == 1);
        Duration answered;
        try (RowLock lock = cluster.lock(name)) {
            assertThatThrownBy(() -> Concurrently.get(waiting, SOON))
                    .hasCauseInstanceOf(PermitsUnavailableException.class);
            answered = Duration.ofNanos(System.nanoTime() - deadline);
        }
        held.release();
        Measurement.check(() -> assertThat(answered).isLessThan(Duration.ofMillis(1100)));
    }

    @Measured
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB}) // others lock no gaps
    void saysThatPermitsAreLockedWhereAnOutsiderReadsThemWithLocks(boolean waits) throws Exception {
        String name = cluster.semaphore(1);
        node.semaphores().acquire(AcquireRequest.of(cluster.semaphore(1)));
        AcquireRequest request = AcquireRequest.of(name);
        Duration answered;
        try (RowLock gaps = RowLock.atRepeatableRead(cluster.schema())
                .execute("select id from permit where state = 'ACQUIRED' lock in share mode")) {
            long begun = System.nanoTime();

            assertThatThrownBy(() ->
                            node.semaphores().acquire(waits ? request.withWaitTime(Duration.ofMillis(1200)) : request))
                    .isInstanceOf(CannotAcquireLockException.class)
                    .hasMessageContaining("locked the place in the tables permit or permit_request")
                    .hasMessageContaining(name);

            answered = Duration.ofNanos(System.nanoTime() - begun);
        }
        assertThat(cluster.held(name)).isZero();
        Measurement.check(
                () -> assertThat(answered).isLessThan(waits ? Duration.ofMillis(2300) : Duration.ofMillis(6500)));
    }

    /** Nothing is held: an insert that waits for the gap never gets it. */
    @Measured
    @ParameterizedTest
    @ValueSource(ints = {2000, 2500, 3500})
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB}) // others lock no gaps
    void isNoUnknownOutcomeWhereTheDecisionTimeoutEndsBeforeTheLockWait(int timeoutMillis) throws Exception {
        String name = cluster.semaphore(1);
        SemaphoreSettings settings = TestSettings.limits(5, 10, 3)
                .with(SemaphoreSettings.DECISION_TIMEOUT, Duration.ofMillis(timeoutMillis));
        Throwable failure;
        try (Node impatient = Node.on(cluster.schema(), settings)) {
            impatient.semaphores().acquire(AcquireRequest.of(cluster.semaphore(1))); // the first one takes longer
            try (RowLock gaps = RowLock.atRepeatableRead(cluster.schema())
                    .execute("select id from permit where state = 'ACQUIRED' lock in share mode")) {
                failure = catchThrowable(() -> impatient.semaphores().acquire(AcquireRequest.of(name)));
            }
        }
        assertThat(cluster.held(name)).isZero();
        Measurement.check(() -> assertThat(failure)
                .isInstanceOf(CannotAcquireLockException.class)
                .hasMessageContaining("Nothing is held"));
    }

    @Test
    void theMessageOfALockedRowSaysHowLongItWasLocked() throws Exception {
        String name = cluster.semaphore(1);
        try (RowLock lock = cluster.lock(name)) {
            Future<Optional<PermitGrant>> first = late(AcquireRequest.of(name));
            Concurrently.assertWaits(first);
            long begun = System.nanoTime();

            assertThatThrownBy(() ->
                            node.semaphores().tryAcquire(AcquireRequest.of(name).withWaitTime(WAIT_TIME)))
                    .isInstanceOf(CannotAcquireLockException.class)
                    .message()
                    .satisfies(message -> assertThat(durationIn(message))
                            .isBetween(WAIT_TIME, Duration.ofNanos(System.nanoTime() - begun)));
        }
    }

    private static Duration durationIn(String message) {
        return Duration.parse(message.replaceAll("(?s).* tried for (PT[0-9.]+S).*", "$1"));
    }

    private Future<Optional<PermitGrant>> late(AcquireRequest request) {
        return Concurrently.async(() -> node.semaphores().tryAcquire(request.withWaitTime(WAIT_TIME)));
    }
}
