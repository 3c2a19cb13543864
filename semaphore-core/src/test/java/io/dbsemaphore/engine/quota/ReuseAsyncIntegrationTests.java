package io.dbsemaphore.engine.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * An asynchronous acquire without a wait time comes while the only permit goes back, and the database does not answer. It must
 * neither be refused nor block its caller.
 */
@Slow
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReuseAsyncIntegrationTests extends ReuseFixture {

    /** A caller that is blocked is so for 5 seconds. */
    private static final Duration AT_ONCE = Duration.ofMillis(2_500);

    private final List<Pause> pauses = new ArrayList<>();

    @AfterEach
    void openPauses() {
        pauses.forEach(Pause::open);
    }

    @Test
    void anAcquireThatCannotReuseAnIdlePermitContinuesWhenItHasGoneBack() throws Exception {
        acquire(node).release();
        Pause goesBack = pauseOfReturn(node);

        CompletableFuture<PermitGrant> acquire =
                acquireAtOnce(node, AcquireRequest.of(name).exclusive());

        goesBack.awaitReached(SOON);
        assertThat(acquire).isNotDone();
        goesBack.open();
        Concurrently.get(acquire).release();
    }

    /** The permit becomes idle, for others, while the acquire is being decided. */
    @Test
    void anAcquireThatCannotReuseAPermitIsNotRefusedIfThatBecomesIdleMeanwhile() throws Exception {
        PermitGrant used = acquire(node);
        Pause decided = node.gate().pauseBefore("from permit");
        pauses.add(decided);
        CompletableFuture<PermitGrant> exclusive =
                acquireAtOnce(node, AcquireRequest.of(name).exclusive());
        decided.awaitReached(SOON);

        used.release();
        decided.open();

        Concurrently.get(exclusive).release();
    }

    @Test
    void anAcquireOfTheSameKindContinuesWhenAPermitHasGoneBack() throws Exception {
        try (Node own = Node.on(cluster.schema(), settings(Duration.ofSeconds(1)))) {
            PermitGrant grant = acquire(own);
            Pause goesBack = pauseOfReturn(own);
            grant.release();
            goesBack.awaitReached(SOON); // when it has not been used for eight times the reuse time

            CompletableFuture<PermitGrant> acquire = acquireAtOnce(own, request());

            Concurrently.assertWaits(acquire);
            goesBack.open();
            Concurrently.get(acquire).release();
        }
    }

    /** It was not confirmed in time. */
    @Test
    void anAcquireContinuesWhenThePermitOfAUseThatEndsHasGoneBack() throws Exception {
        Duration reuse = Duration.ofSeconds(1);
        try (Node own = Node.on(cluster.schema(), settings(reuse))) {
            Pause confirmation = own.gate().pauseBefore("'HELD'");
            pauses.add(confirmation);
            PermitGrant grant = acquire(own);
            confirmation.awaitReached(SOON);
            LockSupport.parkNanos(reuse.toNanos());
            Pause goesBack = pauseOfReturn(own);
            Future<ReleaseOutcome> release = Concurrently.async(grant::release);
            goesBack.awaitReached(SOON);

            CompletableFuture<PermitGrant> acquire = acquireAtOnce(own, request());

            Concurrently.assertWaits(acquire);
            goesBack.open();
            assertThat(Concurrently.get(release)).isEqualTo(ReleaseOutcome.RELEASED);
            Concurrently.get(acquire).release();
        } finally {
            openPauses();
        }
    }

    /** The database may not answer for long. */
    @Test
    void anAcquireDoesNotWaitForLong() {
        acquire(node).release();
        Pause goesBack = pauseOfReturn(node);

        CompletableFuture<PermitGrant> acquire =
                acquireAtOnce(node, AcquireRequest.of(name).exclusive());

        goesBack.awaitReached(SOON);
        await().atMost(SOON).until(acquire::isDone);
        assertThat(acquire).isCompletedExceptionally();
    }

    @Test
    void anAcquireThatWasCancelledMeanwhileHoldsNothing() throws Exception {
        acquire(node).release();
        Pause goesBack = pauseOfReturn(node);
        CompletableFuture<PermitGrant> acquire =
                acquireAtOnce(node, AcquireRequest.of(name).exclusive());
        goesBack.awaitReached(SOON);

        acquire.cancel(false);
        goesBack.open();

        PermitGrant next = Concurrently.get(
                other.semaphores().acquireAsync(AcquireRequest.of(name).withWaitTime(SOON)));
        assertThat(cluster.held(name)).isEqualTo(1);
        next.release();
    }

    @Test
    void aStopDoesNotWaitForTheReturn() throws Exception {
        SemaphoreSettings patient = settings(REUSE).with(SemaphoreSettings.DECISION_TIMEOUT, Duration.ofSeconds(40));
        try (Node stopped = Node.on(cluster.schema(), patient)) {
            acquire(stopped).release();
            Pause goesBack = pauseOfReturn(stopped);
            CompletableFuture<PermitGrant> acquire =
                    acquireAtOnce(stopped, AcquireRequest.of(name).exclusive());
            goesBack.awaitReached(SOON);

            Future<Boolean> stop = Concurrently.async(() -> {
                stopped.stop();
                return true;
            });

            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> Concurrently.get(acquire, SOON))
                    .withCauseInstanceOf(SemaphoreClosedException.class);
            goesBack.open();
            Concurrently.get(stop);
        }
    }

    private Pause pauseOfReturn(Node on) {
        Pause pause = on.gate().pauseBefore("update permit");
        pauses.add(pause);
        return pause;
    }

    private static CompletableFuture<PermitGrant> acquireAtOnce(Node on, AcquireRequest request) {
        long begun = System.nanoTime();
        CompletableFuture<PermitGrant> acquire = on.semaphores().acquireAsync(request);
        assertThat(Duration.ofNanos(System.nanoTime() - begun)).isLessThan(AT_ONCE);
        return acquire;
    }
}
