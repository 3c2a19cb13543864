package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsExceedCapacityException;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.RequestConflictException;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.assertj.core.api.ThrowableAssert.ThrowingCallable;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The outcome of one caller of a batch does not affect the others. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BatchingIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final Duration WAIT_TIME = Duration.ofSeconds(30);
    private static final int PAIRS = 10;

    /** For all pairs; an acquire that waits for a lock of another transaction does so for a second at a time. */
    private static final Duration WITHOUT_LOCK_WAITS = Duration.ofSeconds(9);

    private static final int INNOCENT = 12;
    private static final String INSERT = "insert into permit_request";

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private final Node node = cluster.node(0);
    private final StatementGate gate = node.gate();
    private final List<Thread> threads = new ArrayList<>();

    @AfterEach
    void reset() {
        gate.close();
        gate.clear();
    }

    @Test
    void leavesEveryOtherCallerWithItsGrant() throws Exception {
        String name = cluster.semaphore(100);
        String taken = cluster.externalId();
        node.semaphores().acquire(AcquireRequest.of(cluster.semaphore(1)).withExternalId(taken));
        String twice = cluster.externalId();
        QueuedBatch batch = new QueuedBatch(name);

        List<FutureTask<PermitGrant>> innocent = batch.acquire(INNOCENT, AcquireRequest.of(name));
        FutureTask<PermitGrant> first = batch.acquire(AcquireRequest.of(name).withExternalId(twice));
        FutureTask<PermitGrant> second = batch.acquire(AcquireRequest.of(name).withExternalId(twice));
        FutureTask<PermitGrant> conflict = batch.acquire(AcquireRequest.of(name).withExternalId(taken));
        FutureTask<PermitGrant> unknown = batch.acquire(AcquireRequest.of(name, "no-such-semaphore"));
        FutureTask<PermitGrant> impossible =
                batch.acquire(AcquireRequest.of(name).withPermits(name, 101));
        FutureTask<PermitGrant> interrupted = batch.acquire(AcquireRequest.of(name));
        threads.get(threads.size() - 1).interrupt();
        assertThatThrownBy(causeOf(interrupted)).isInstanceOf(AcquireInterruptedException.class);
        batch.go();

        for (FutureTask<PermitGrant> each : innocent) {
            assertThat(Concurrently.get(each).isHeld())
                    .as("%s is held", Concurrently.get(each))
                    .isEqualTo(true);
        }
        assertThat(Concurrently.get(first).fencingToken())
                .isEqualTo(Concurrently.get(second).fencingToken());
        assertThatThrownBy(causeOf(conflict)).isInstanceOf(RequestConflictException.class);
        assertThatThrownBy(causeOf(unknown))
                .isInstanceOf(SemaphoreNotFoundException.class)
                .hasMessageContaining("no-such-semaphore");
        assertThatThrownBy(causeOf(impossible)).isInstanceOf(PermitsExceedCapacityException.class);
        assertThat(cluster.held(name)).isEqualTo(1 + INNOCENT + 1);
    }

    @Test
    void bisectsABatchThatFailsByADuplicateIdOfAnotherNode() throws Exception {
        String name = cluster.semaphore(100);
        String elsewhere = cluster.semaphore(1);
        String id = cluster.externalId();
        QueuedBatch batch = new QueuedBatch(name);
        List<FutureTask<PermitGrant>> innocent = batch.acquire(INNOCENT, AcquireRequest.of(name));
        FutureTask<PermitGrant> culprit = batch.acquire(AcquireRequest.of(name).withExternalId(id));
        Pause beforeInsert = gate.pauseBefore("insert into permit_request");
        batch.go();
        beforeInsert.awaitReached(SOON);
        cluster.node(1).semaphores().acquire(AcquireRequest.of(elsewhere).withExternalId(id));

        beforeInsert.open();

        for (FutureTask<PermitGrant> each : innocent) {
            assertThat(Concurrently.get(each).isHeld())
                    .as("%s is held", Concurrently.get(each))
                    .isEqualTo(true);
        }
        assertThatThrownBy(causeOf(culprit))
                .isInstanceOf(RequestConflictException.class)
                .hasMessageContaining(id);
        assertThat(cluster.held(name)).isEqualTo(1 + INNOCENT);
    }

    @Test
    void triesABatchAgainAsAWholeAfterAConflict() throws Exception {
        String name = cluster.semaphore(100);
        QueuedBatch batch = new QueuedBatch(name);
        List<FutureTask<PermitGrant>> together = batch.acquire(INNOCENT, AcquireRequest.of(name));
        gate.clear();
        gate.failBefore(INSERT, new SQLException("on purpose", "40001", 1213));
        batch.go();

        for (FutureTask<PermitGrant> each : together) {
            assertThat(Concurrently.get(each).isHeld()).isEqualTo(true);
        }
        assertThat(gate.count("update semaphore")).as("attempts").isEqualTo(2);
        assertThat(gate.count(INSERT)).as("what all need").isEqualTo(1);
    }

    @Test
    void triesEachCallerOfABatchByItselfBeforeItIsToldOfAConflict() throws Exception {
        String name = cluster.semaphore(100);
        QueuedBatch batch = new QueuedBatch(name);
        List<FutureTask<PermitGrant>> together = batch.acquire(INNOCENT, AcquireRequest.of(name));
        for (int i = 0; i < SemaphoreSettings.defaults().get(SemaphoreSettings.MAX_ATTEMPTS); i++) {
            gate.failBefore(INSERT, new SQLException("on purpose", "40001", 1213));
        }
        batch.go();

        for (FutureTask<PermitGrant> each : together) {
            assertThat(Concurrently.get(each).isHeld()).isEqualTo(true);
        }
    }

    @Measured
    @Test
    void doesNotStallOtherNamesForRowsThatAnotherNodeHolds() throws Exception {
        List<String> locked = cluster.semaphores(4, 10);
        String free = cluster.semaphore(10);
        List<RowLock> locks = new ArrayList<>();
        List<FutureTask<PermitGrant>> stalled = new ArrayList<>();
        Duration took;
        try {
            for (String name : locked) {
                locks.add(cluster.lock(name));
            }
            for (String name : locked) {
                stalled.add(start(AcquireRequest.of(name)));
                stalled.add(start(AcquireRequest.of(name, free)));
            }
            Concurrently.assertWaits(stalled.get(0));

            long begun = System.nanoTime();
            for (int i = 0; i < PAIRS; i++) {
                node.semaphores().acquire(AcquireRequest.of(free)).release();
            }
            took = Duration.ofNanos(System.nanoTime() - begun);
            assertThat(stalled).allMatch(each -> !each.isDone());
        } finally {
            for (RowLock lock : locks) {
                lock.close();
            }
        }
        for (FutureTask<PermitGrant> each : stalled) {
            Concurrently.get(each).release();
        }
        Measurement.check(() -> assertThat(took).isLessThan(WITHOUT_LOCK_WAITS));
    }

    @Measured
    @Test
    void waitsForOneRowWithoutBlockingTheOthers() throws Exception {
        String free = cluster.semaphore(
                10); // the lower id: a transaction that locked in the order of ids would hold it while it waits
        String locked = cluster.semaphore(10);
        FutureTask<PermitGrant> stalled;
        Duration took;
        try (RowLock lock = cluster.lock(locked)) {
            stalled = start(AcquireRequest.of(locked, free));
            Concurrently.assertWaits(stalled);

            long begun = System.nanoTime();
            for (int i = 0; i < PAIRS; i++) {
                node.semaphores().acquire(AcquireRequest.of(free)).release();
                cluster.node(1).semaphores().acquire(AcquireRequest.of(free)).release();
            }
            took = Duration.ofNanos(System.nanoTime() - begun);
            assertThat(stalled).isNotDone();
        }
        Concurrently.get(stalled).release();
        Measurement.check(() -> assertThat(took).isLessThan(WITHOUT_LOCK_WAITS));
    }

    /** No other caller comes meanwhile, which would have the queue looked at. */
    @Measured
    @Test
    void keepsTheOtherSemaphoresForAQuarterOfASecondOnlyWhenItWaitsForARowAgainAndAgain() throws Exception {
        String free = cluster.semaphore(10);
        String locked = cluster.semaphore(10);
        FutureTask<PermitGrant> stalled;
        long longest = 0;
        try (RowLock lock = cluster.lock(locked)) {
            stalled = start(AcquireRequest.of(locked, free));
            long end = System.nanoTime() + Duration.ofMillis(2_500).toNanos(); // a statement waits for a second
            for (long begun = System.nanoTime(); begun < end; begun = System.nanoTime()) {
                node.semaphores().acquire(AcquireRequest.of(free)).release();
                longest = Math.max(longest, System.nanoTime() - begun);
            }
            assertThat(stalled).isNotDone();
        }
        Concurrently.get(stalled).release();
        Duration taken = Duration.ofNanos(longest);
        Measurement.check(() -> assertThat(taken).isLessThan(Duration.ofMillis(900)));
    }

    /** Another caller of both semaphores is before it. */
    @Measured
    @Test
    void servesALoneCallerOfAFreeSemaphoreWhenTheBatchBeforeItStallsAtALockedRow() throws Exception {
        String locked = cluster.semaphore(10);
        String free = cluster.semaphore(10);
        List<FutureTask<PermitGrant>> stalled = new ArrayList<>();
        Duration taken;
        try (RowLock lock = cluster.lock(locked)) {
            stalled.add(start(AcquireRequest.of(locked)));
            TimeUnit.MILLISECONDS.sleep(100);
            stalled.add(start(AcquireRequest.of(locked, free)));
            taken = timeToAcquire(free);
        }
        for (FutureTask<PermitGrant> each : stalled) {
            Concurrently.get(each).release();
        }
        Measurement.check(() -> assertThat(taken).isLessThan(Duration.ofMillis(600))); // a statement waits for a second
    }

    @Measured
    @Test
    void servesALoneCallerOfAFreeSemaphoreWhenTheCommitOfTheBatchBeforeItHangs() throws Exception {
        String slow = cluster.semaphore(10);
        String free = cluster.semaphore(10);
        List<FutureTask<PermitGrant>> stalled = new ArrayList<>();
        Pause commit = gate.pauseBeforeCommitOf(INSERT);
        stalled.add(start(AcquireRequest.of(slow)));
        commit.awaitReached(SOON);
        stalled.add(start(AcquireRequest.of(slow, free)));

        Duration taken = timeToAcquire(free);

        commit.open();
        for (FutureTask<PermitGrant> each : stalled) {
            Concurrently.get(each).release();
        }
        Measurement.check(() -> assertThat(taken).isLessThan(Duration.ofSeconds(1)));
    }

    private Duration timeToAcquire(String name) throws InterruptedException {
        TimeUnit.MILLISECONDS.sleep(50); // the callers before are in the queue
        long begun = System.nanoTime();
        node.semaphores().acquire(AcquireRequest.of(name)).release();
        return Duration.ofNanos(System.nanoTime() - begun);
    }

    @Test
    void throwsExceptionsWithTheStackTraceOfTheCaller() {
        String name = cluster.semaphore(1);
        node.semaphores().acquire(AcquireRequest.of(name));

        assertThatThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(name)))
                .isInstanceOf(PermitsUnavailableException.class)
                .satisfies(thrown -> assertThat(thrown.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().equals(BatchingIntegrationTests.class.getName())));
        assertThatThrownBy(() -> node.semaphores().acquire(AcquireRequest.of("no-such-semaphore")))
                .isInstanceOf(SemaphoreNotFoundException.class)
                .satisfies(thrown -> assertThat(thrown.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().equals(BatchingIntegrationTests.class.getName())));
        gate.failBefore("sum(", new SQLException("out of order", "HY000"));
        assertThatThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(name)))
                .hasRootCauseMessage("out of order")
                .satisfies(thrown -> assertThat(thrown.getStackTrace())
                        .anyMatch(frame -> frame.getClassName().equals(BatchingIntegrationTests.class.getName())));
    }

    /** Pauses a first acquire before its commit, so that others of the same name form one batch. */
    private final class QueuedBatch {

        private final Pause pause = gate.pauseBefore("commit");
        private final FutureTask<PermitGrant> first;

        QueuedBatch(String name) {
            first = start(AcquireRequest.of(name));
            pause.awaitReached(SOON);
        }

        FutureTask<PermitGrant> acquire(AcquireRequest request) {
            FutureTask<PermitGrant> acquire = start(request);
            awaitQueued(threads.get(threads.size() - 1));
            return acquire;
        }

        List<FutureTask<PermitGrant>> acquire(int count, AcquireRequest request) {
            return IntStream.range(0, count).mapToObj(i -> acquire(request)).toList();
        }

        void go() throws Exception {
            pause.open();
            Concurrently.get(first);
        }
    }

    private static void awaitQueued(Thread thread) {
        Awaitility.await()
                .atMost(SOON)
                .pollInterval(Duration.ofMillis(5))
                .until(() -> WaitingCallers.count(List.of(thread)) > 0);
    }

    private FutureTask<PermitGrant> start(AcquireRequest request) {
        FutureTask<PermitGrant> acquire =
                new FutureTask<>(() -> node.semaphores().acquire(request.withWaitTime(WAIT_TIME)));
        run(acquire);
        return acquire;
    }

    private void run(FutureTask<PermitGrant> task) {
        Thread thread = new Thread(task, "caller");
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }

    private static ThrowingCallable causeOf(FutureTask<PermitGrant> failed) {
        return () -> {
            try {
                failed.get(SOON.toSeconds(), TimeUnit.SECONDS);
            } catch (ExecutionException failure) {
                throw failure.getCause();
            }
        };
    }
}
