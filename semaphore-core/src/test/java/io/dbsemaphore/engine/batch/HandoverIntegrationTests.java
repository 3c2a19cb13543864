package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.RequestConflictException;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.condition.DisabledIfSystemProperty;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A release and the grant to a waiting caller share a transaction; a failure of one does not affect the other. */
@DisabledIfSystemProperty(named = TestSettings.MAX_BATCH_SIZE, matches = "1", disabledReason = "about batches")
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HandoverIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final int CALLERS = 8;
    private static final String RELEASE = "update permit_request";
    private static final String GRANT = "insert into permit(";

    @RegisterExtension
    static final Cluster cluster = new Cluster(3);

    private final Node node = cluster.node(0);
    /** One that has met others at its rows, after which it hands nothing over for a while. */
    private final Node contended = cluster.node(2);

    private final StatementGate gate = node.gate();
    private final ExecutorService callers = Executors.newCachedThreadPool();

    @AfterEach
    void reset() {
        gate.close();
        gate.clear();
        callers.shutdownNow();
    }

    @Test
    void isOneTransaction() {
        String name = cluster.semaphore(1);
        PermitGrant held = node.semaphores().acquire(AcquireRequest.of(name));
        CompletableFuture<PermitGrant> waiting = inLine(AcquireRequest.of(name));

        assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);
        PermitGrant next = join(waiting);

        assertThat(next.fencingToken()).isGreaterThan(held.fencingToken());
        assertThat(cluster.held(name)).isEqualTo(1);
        assertThat(transactions())
                .filteredOn(transaction -> contains(transaction, RELEASE) || contains(transaction, GRANT))
                .singleElement()
                .satisfies(both -> assertThat(both).anyMatch(sql -> sql.startsWith(RELEASE)))
                .satisfies(both -> assertThat(both).anyMatch(sql -> sql.startsWith(GRANT)));
        next.release();
    }

    @Test
    void isAReleaseAlthoughTheGrantFails() {
        String name = cluster.semaphore(1);
        String id = cluster.externalId();
        PermitGrant held = node.semaphores().acquire(AcquireRequest.of(name));
        CompletableFuture<PermitGrant> culprit = inLine(AcquireRequest.of(name).withExternalId(id));
        Pause beforeInsert = gate.pauseBefore("insert into permit_request");
        CompletableFuture<ReleaseOutcome> release = async(held::release);
        beforeInsert.awaitReached(SOON);
        cluster.node(1)
                .semaphores()
                .acquire(AcquireRequest.of(cluster.semaphore(1)).withExternalId(id));

        beforeInsert.open();

        assertThat(join(release)).isEqualTo(ReleaseOutcome.RELEASED);
        assertThatThrownBy(() -> join(culprit))
                .isInstanceOf(CompletionException.class)
                .hasCauseInstanceOf(RequestConflictException.class);
        assertThat(cluster.held(name)).isZero();
    }

    @Test
    void isAGrantAlthoughTheReleaseComesTooLate() {
        String name = cluster.semaphore(1);
        PermitGrant held = node.semaphores().acquire(AcquireRequest.of(name));
        CompletableFuture<PermitGrant> waiting = inLine(AcquireRequest.of(name));
        Pause beforeRelease = gate.pauseBefore("id from permit ");
        CompletableFuture<ReleaseOutcome> release = async(held::release);
        beforeRelease.awaitReached(SOON);
        cluster.node(1).admin().forceRelease(held.externalId(), "operator", "a drill");

        beforeRelease.open();

        assertThat(join(release)).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertThat(join(waiting).isHeld()).isTrue();
        assertThat(cluster.held(name)).isEqualTo(1);
    }

    @Test
    void skipsAGrantThatAnotherTransactionHasChecked() {
        String name = cluster.semaphore(2);
        PermitGrant checked = node.semaphores().acquire(AcquireRequest.of(name));
        PermitGrant other = node.semaphores().acquire(AcquireRequest.of(name));
        CompletableFuture<PermitGrant> waiting = inLine(AcquireRequest.of(name));

        CompletableFuture<ReleaseOutcome> late = cluster.node(1).transaction().execute(status -> {
            cluster.node(1).semaphores().requireHeld(checked);
            CompletableFuture<ReleaseOutcome> release = async(checked::release);
            Awaitility.await().atMost(SOON).until(() -> gate.count("id from permit ") > 0);
            assertThat(other.release()).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(join(waiting).isHeld()).isTrue();
            assertThat(release).isNotDone();
            return release;
        });

        assertThat(join(late)).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(cluster.held(name)).isEqualTo(1);
    }

    @Measured
    @Test
    void doesNotKeepAReleaseWaitingForARowThatAnotherNodeHolds() throws Exception {
        String locked = cluster.semaphore(CALLERS);
        String name = cluster.semaphore(1);
        PermitGrant held = contended.semaphores().acquire(AcquireRequest.of(name));
        List<CompletableFuture<PermitGrant>> stalled;
        Duration release;
        try (RowLock lock = cluster.lock(locked)) {
            stalled = submitAsync(CALLERS, AcquireRequest.of(locked).withWaitTime(SOON));
            long begun = System.nanoTime();

            assertThat(held.release()).isEqualTo(ReleaseOutcome.RELEASED);

            release = Duration.ofNanos(System.nanoTime() - begun);
            assertThat(cluster.held(name)).isZero();
            assertThat(stalled).noneMatch(CompletableFuture::isDone);
        }
        stalled.forEach(this::join);
        Measurement.check(() -> assertThat(release)
                .as("a statement waits for a row for a second")
                .isLessThan(Duration.ofMillis(700)));
    }

    /** A waiting caller that was refused once. */
    private CompletableFuture<PermitGrant> inLine(AcquireRequest request) {
        gate.clear();
        CompletableFuture<PermitGrant> waiting = async(() -> node.semaphores().acquire(request.withWaitTime(SOON)));
        awaitCallers(1);
        Awaitility.await()
                .atMost(SOON)
                .until(() -> transactions().stream()
                        .anyMatch(transaction -> transaction.stream().anyMatch(sql -> sql.contains("sum("))));
        gate.clear();
        Awaitility.await("a look at what is free, for who stands in line")
                .atMost(SOON)
                .until(() -> !transactions().isEmpty());
        gate.clear();
        return waiting;
    }

    private List<CompletableFuture<PermitGrant>> submitAsync(int count, AcquireRequest request) {
        long before = WaitingCallers.count();
        List<CompletableFuture<PermitGrant>> acquires = IntStream.range(0, count)
                .mapToObj(i -> async(() -> contended.semaphores().acquire(request)))
                .toList();
        awaitCallers(before + count);
        return acquires;
    }

    private static void awaitCallers(long count) {
        Awaitility.await().atMost(SOON).pollInterval(Duration.ofMillis(5)).until(() -> WaitingCallers.count() >= count);
    }

    /** What was committed, each transaction by itself, whatever other connections did meanwhile. */
    private List<List<String>> transactions() {
        List<List<String>> transactions = new ArrayList<>();
        Map<Integer, List<String>> open = new HashMap<>();
        gate.executions().forEach(execution -> {
            List<String> current = open.computeIfAbsent(execution.connection(), connection -> new ArrayList<>());
            current.add(execution.sql());
            if (execution.sql().equals("commit")) {
                transactions.add(List.copyOf(current));
                current.clear();
            }
        });
        return transactions;
    }

    private static boolean contains(List<String> transaction, String begin) {
        return transaction.stream().anyMatch(sql -> sql.startsWith(begin));
    }

    private <T> CompletableFuture<T> async(Supplier<T> task) {
        return CompletableFuture.supplyAsync(task, callers);
    }

    private <T> T join(CompletableFuture<T> task) {
        return task.orTimeout(SOON.toSeconds(), TimeUnit.SECONDS).join();
    }
}
