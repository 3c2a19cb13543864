package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.dbsemaphore.AcquireOutcomeUnknownException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.engine.batch.WaitingCallers;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** A caller that is interrupted, or whose future is cancelled, while its grant is being written. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LeavingWhileWrittenIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final String INSERT = "insert into permit_request";

    private static Schema schema;
    private static SemaphoreRows rows;
    private static Node node;
    private static Node ofOneAttempt;

    @BeforeAll
    static void start() {
        schema = TestDatabase.create().migrate();
        rows = new SemaphoreRows(schema);
        node = Node.on(schema);
        ofOneAttempt = Node.on(schema, TestSettings.limits(5, 20, 1));
    }

    @AfterEach
    void open() {
        node.gate().close();
        ofOneAttempt.gate().close();
    }

    @AfterAll
    static void stop() {
        ofOneAttempt.close();
        node.close();
        schema.close();
    }

    /** The grant is the answer, also where the answer to its commit is lost: with the flag set, and held. */
    @ParameterizedTest
    @CsvSource({"false,false", "true,false", "false,true", "true,true"})
    void anInterruptedCallerGetsTheGrant(boolean answerLost, boolean waits) throws Exception {
        String name = node.semaphore(1);
        AcquireRequest request = AcquireRequest.of(name);
        Pause writing = node.gate().pauseBeforeCommitOf(INSERT);
        if (answerLost) {
            node.gate().failAfter("commit", new SQLException("The answer is lost"));
        }
        FutureTask<PermitGrant> acquire = new FutureTask<>(() -> {
            PermitGrant grant =
                    node.semaphores().acquire(waits ? request.withWaitTime(Duration.ofSeconds(60)) : request);
            assertThat(Thread.currentThread().isInterrupted()).as("flag").isTrue();
            return grant;
        });
        interruptWhileWritten(acquire, writing).interrupt();

        writing.open();

        PermitGrant grant = Concurrently.get(acquire);
        assertThat(grant.isReplayed()).isFalse();
        rows.assertHeldByOnly(grant);
        grant.release();
        rows.assertNothingHeld(Set.of(name));
    }

    /** The answer to the commit of its grant is lost, perhaps after a conflict, and other acquires delay the next attempt. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anInterruptedCallerWaitsForTheAttemptThatFindsTheOutcome(boolean afterAConflict) throws Exception {
        String name = node.semaphore(1);
        if (afterAConflict) {
            node.gate().failBefore(INSERT, new SQLException("A deadlock", "40001"));
        }
        AcquireRequest before = AcquireRequest.of(node.semaphore(1)).withWaitTime(SOON);
        AcquireRequest between = AcquireRequest.of(node.semaphore(1)).withWaitTime(SOON);
        Pause writing = node.gate().pauseBeforeCommitOf(INSERT);
        node.gate().failAfter("commit", new SQLException("The answer is lost"));
        FutureTask<PermitGrant> acquire = new FutureTask<>(
                () -> node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(60))));
        Thread thread = new Thread(acquire, "interrupted");
        thread.setDaemon(true);
        thread.start();
        writing.awaitReached(SOON);
        Pause first = node.gate().pauseBefore(INSERT);
        Future<PermitGrant> others = Concurrently.async(() -> node.semaphores().acquire(before));
        first.awaitReached(SOON);
        Pause second = node.gate().pauseBefore(INSERT);
        long waiting = WaitingCallers.count();
        Future<PermitGrant> more = Concurrently.async(() -> node.semaphores().acquire(between));
        Awaitility.await().until(() -> WaitingCallers.count() > waiting);
        thread.interrupt();
        Concurrently.assertWaits(acquire);

        writing.open();
        second.awaitReached(SOON);
        Concurrently.assertWaits(acquire);
        first.open();
        second.open();

        PermitGrant grant = Concurrently.get(acquire);
        rows.assertHeldByOnly(grant);
        grant.release();
        Concurrently.get(others).release();
        Concurrently.get(more).release();
        rows.assertNothingHeld(Set.of(name));
    }

    /** Without a further attempt it is undone before the caller is told. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void anInterruptedCallerOfOneAttemptHoldsNothing(boolean waits) throws Exception {
        String name = node.semaphore(1);
        AcquireRequest request = AcquireRequest.of(name);
        Pause writing = ofOneAttempt.gate().pauseBeforeCommitOf(INSERT);
        ofOneAttempt.gate().failAfter("commit", new SQLException("The answer is lost"));
        FutureTask<Throwable> acquire = new FutureTask<>(() -> catchThrowable(() ->
                ofOneAttempt.semaphores().acquire(waits ? request.withWaitTime(Duration.ofSeconds(60)) : request)));
        Thread unused = interruptWhileWritten(acquire, writing);

        writing.open();

        Throwable failure = Concurrently.get(acquire);
        assertThat(failure).isNotNull().isNotInstanceOf(AcquireOutcomeUnknownException.class);
        rows.assertNothingHeld(Set.of(name));
    }

    @ParameterizedTest
    @CsvSource({"false,false", "true,false", "false,true", "true,true"})
    void aCancelledFutureLeavesNothingHeld(boolean answerLost, boolean oneAttempt) throws Exception {
        Node on = oneAttempt ? ofOneAttempt : node;
        String name = node.semaphore(1);
        Pause writing = on.gate().pauseBeforeCommitOf(INSERT);
        if (answerLost) {
            on.gate().failAfter("commit", new SQLException("The answer is lost"));
        }
        CompletableFuture<PermitGrant> acquire =
                on.semaphores().acquireAsync(AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(60)));
        writing.awaitReached(SOON);
        assertThat(acquire.cancel(true)).isTrue();

        writing.open();

        rows.awaitNothingHeld(SOON, Set.of(name));
        PermitGrant next = node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON));
        rows.assertHeldByOnly(next);
        next.release();
    }

    /** All threads for completions are blocked, each by an acquire of its own, which needs none of them. */
    @Test
    void completionsThatAcquireDoNotWaitForOneAnother() throws Exception {
        String outer = node.semaphore(200);
        String inner = node.semaphore(3);
        List<CompletableFuture<Long>> all = new ArrayList<>();
        for (int i = 0; i < 150; i++) {
            all.add(node.semaphores().acquireAsync(AcquireRequest.of(outer)).thenApply(grant -> {
                try (grant) {
                    return node.semaphores()
                            .execute(AcquireRequest.of(inner).withWaitTime(SOON), PermitGrant::fencingToken);
                }
            }));
        }
        for (CompletableFuture<Long> each : all) {
            assertThat(each.get(30, TimeUnit.SECONDS)).isPositive();
        }
        rows.assertNothingHeld(Set.of(outer, inner));
    }

    private static Thread interruptWhileWritten(FutureTask<?> acquire, Pause writing) throws Exception {
        Thread thread = new Thread(acquire, "interrupted");
        thread.setDaemon(true);
        thread.start();
        writing.awaitReached(SOON);
        thread.interrupt();
        Concurrently.assertWaits(acquire);
        return thread;
    }
}
