package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** However a wait ends, no record of it is left that would withhold permits from the callers of other instances. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FormerWaitersIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final Duration LONG = Duration.ofSeconds(40);

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    @Test
    void oneThatIsCancelled() {
        String name = cluster.semaphore(2);
        PermitGrant one = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
        CompletableFuture<PermitGrant> waiting = cluster.node(1)
                .semaphores()
                .acquireAsync(AcquireRequest.of(name).withPermits(name, 2).withWaitTime(LONG));
        await().atMost(SOON).until(() -> records(name) == 1);

        waiting.cancel(true);

        awaitForgotten(name);
        cluster.node(0).semaphores().acquire(AcquireRequest.of(name)).release();
        one.release();
    }

    @Test
    void oneThatIsCancelledWhileItsRefusalIsWritten() {
        String name = cluster.semaphore(1);
        PermitGrant held = cluster.node(1).semaphores().acquire(AcquireRequest.of(name));
        StatementGate.Pause refusal = cluster.node(0).gate().pauseBeforeCommitOf("insert into semaphore_waiter");
        CompletableFuture<PermitGrant> waiting = cluster.node(0)
                .semaphores()
                .acquireAsync(AcquireRequest.of(name).withWaitTime(LONG));
        refusal.awaitReached(SOON);

        waiting.cancel(true);
        refusal.open();

        awaitForgotten(name);
        held.release();
    }

    @Test
    void oneThatIsHandedAReusedPermit() throws Exception {
        String name = cluster.semaphore(1);
        Node reusing = cluster.start(
                cluster.schema().newPool(5),
                TestSettings.defaults()
                        .with(
                                SemaphoreSettings.REUSE,
                                PerSemaphore.all(Duration.ZERO).with(name, SOON)));
        AcquireRequest request = AcquireRequest.of(name).withKeepAlive(true);
        PermitGrant held = reusing.semaphores().acquire(request);
        Future<PermitGrant> waiting =
                Concurrently.async(() -> reusing.semaphores().acquire(request.withWaitTime(LONG)));
        await().atMost(SOON).until(() -> records(name) == 1);

        held.release();

        PermitGrant handedOver = Concurrently.get(waiting);
        assertThat(handedOver.isReused()).isTrue();
        awaitForgotten(name);
        handedOver.release();
    }

    @Test
    void thoseOfAnInstanceThatStops() {
        String name = cluster.semaphore(1);
        PermitGrant held = cluster.node(1).semaphores().acquire(AcquireRequest.of(name));
        Node stopping = cluster.start(cluster.schema().newPool(5));
        CompletableFuture<PermitGrant> waiting =
                stopping.semaphores().acquireAsync(AcquireRequest.of(name).withWaitTime(LONG));
        await().atMost(SOON).until(() -> records(name) == 1);

        stopping.stop();

        await().atMost(SOON).until(waiting::isCompletedExceptionally);
        awaitForgotten(name);
        held.release();
    }

    @Test
    void thoseOfAnInstanceThatIsClosed() {
        String name = cluster.semaphore(2);
        PermitGrant one = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
        AcquireRequest both = AcquireRequest.of(name).withPermits(name, 2).withWaitTime(LONG);
        List<Future<PermitGrant>> waiting = new ArrayList<>();
        try (Node closing = Node.on(cluster.schema())) {
            for (int callers = 1; callers <= 2; callers++) {
                waiting.add(closing.semaphores().acquireAsync(both));
                int recorded = callers;
                await().atMost(SOON).until(() -> waiting(name) == recorded);
            }
        }

        await().atMost(SOON).until(() -> waiting.stream().allMatch(Future::isDone));
        awaitForgotten(name);
        cluster.node(0).semaphores().acquire(AcquireRequest.of(name)).release();
        one.release();
    }

    @Test
    void oneWhoseInstanceStopsWhileItsRefusalIsWritten() throws Exception {
        String name = cluster.semaphore(1);
        PermitGrant held = cluster.node(1).semaphores().acquire(AcquireRequest.of(name));
        Node stopping = cluster.start(cluster.schema().newPool(5));
        StatementGate.Pause refusal = stopping.gate().pauseBeforeCommitOf("insert into semaphore_waiter");
        CompletableFuture<PermitGrant> waiting =
                stopping.semaphores().acquireAsync(AcquireRequest.of(name).withWaitTime(LONG));
        refusal.awaitReached(SOON);

        Future<?> stop = Concurrently.async(() -> {
            stopping.stop();
            return stopping;
        });
        Concurrently.assertWaits(stop);
        refusal.open();

        Concurrently.get(stop);
        await().atMost(SOON).until(waiting::isCompletedExceptionally);
        awaitForgotten(name);
        held.release();
    }

    @Test
    void oneWhoseRecordCannotBeDeletedAtOnce() {
        String name = cluster.semaphore(1);
        PermitGrant held = cluster.node(1).semaphores().acquire(AcquireRequest.of(name));
        CompletableFuture<PermitGrant> waiting = cluster.node(0)
                .semaphores()
                .acquireAsync(AcquireRequest.of(name).withWaitTime(LONG));
        await().atMost(SOON).until(() -> records(name) == 1);
        StatementGate gate = cluster.node(0).gate();
        gate.failBefore("delete from semaphore_waiter", new SQLException("disk full", "HY000"));
        gate.clear();

        waiting.cancel(true);

        await("the repetition").atMost(SOON).until(() -> gate.count("delete from semaphore_waiter") > 0);
        awaitForgotten(name);
        held.release();
    }

    private static void awaitForgotten(String name) {
        await().atMost(SOON).during(Duration.ofMillis(500)).until(() -> records(name) == 0);
    }

    private static int records(String name) {
        return query("count(*)", name);
    }

    /** The callers of all records. */
    private static int waiting(String name) {
        return query("sum(w.waiting)", name);
    }

    private static int query(String aggregate, String name) {
        Integer result = cluster.schema()
                .jdbc()
                .queryForObject(
                        "select " + aggregate
                                + " from semaphore_waiter w join semaphore s on s.id = w.semaphore_id where s.name = ?",
                        Integer.class,
                        name);
        return result == null ? 0 : result;
    }
}
