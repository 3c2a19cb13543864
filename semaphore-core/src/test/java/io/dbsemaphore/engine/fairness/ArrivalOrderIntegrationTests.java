package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collections;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Callers are served in the order of their arrival, whatever they ask for. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ArrivalOrderIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(10);

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
    void servesInArrivalOrder() throws Exception {
        String name = cluster.semaphore(1);
        PermitGrant held = node.semaphores().acquire(AcquireRequest.of(name));
        List<String> order = Collections.synchronizedList(new ArrayList<>());
        List<String> expected = new ArrayList<>();
        List<FutureTask<PermitGrant>> waiting = new ArrayList<>();
        for (int i = 0; i < 8; i++) {
            String id = cluster.externalId();
            expected.add(id);
            FutureTask<PermitGrant> acquire = new FutureTask<>(() -> {
                PermitGrant grant = node.semaphores()
                        .acquire(AcquireRequest.of(name).withExternalId(id).withWaitTime(SOON.multipliedBy(3)));
                order.add(id);
                grant.release();
                return grant;
            });
            run(acquire);
            waiting.add(acquire);
            awaitWaiting(name, waiting.size());
        }

        held.release();

        for (FutureTask<PermitGrant> each : waiting) {
            Concurrently.get(each);
        }
        assertThat(order).isEqualTo(expected);
    }

    @Test
    void doesNotStarveARequestForManyPermits() throws Exception {
        int capacity = 4;
        String name = cluster.semaphore(capacity);
        FutureTask<PermitGrant> large = new FutureTask<>(() -> node.semaphores()
                .acquire(AcquireRequest.of(name).withPermits(name, capacity).withWaitTime(SOON)));
        List<FutureTask<PermitGrant>> small = IntStream.range(0, 2 * capacity)
                .mapToObj(i -> new FutureTask<PermitGrant>(() -> {
                    PermitGrant last;
                    do {
                        last = node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON.multipliedBy(2)));
                        last.release();
                    } while (!large.isDone());
                    return last;
                }))
                .toList();
        small.forEach(this::run);
        Awaitility.await().atMost(SOON).until(() -> gate.count("insert into permit(") > 20);

        run(large);

        assertThat(Concurrently.get(large).permits()).containsEntry(name, capacity);
        Concurrently.get(large).release();
        for (FutureTask<PermitGrant> each : small) {
            Concurrently.get(each);
        }
    }

    @Test
    void doesNotLetCallersWithoutWaitTimeOvertakeWaitingOnes() throws Exception {
        String name = cluster.semaphore(4);
        PermitGrant held = node.semaphores().acquire(AcquireRequest.of(name).withPermits(name, 2));
        FutureTask<PermitGrant> large =
                start(AcquireRequest.of(name).withPermits(name, 3).withWaitTime(SOON.multipliedBy(3)));
        awaitWaiting(name, 1);

        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
        held.release();

        assertThat(Concurrently.get(large).permits()).containsEntry(name, 3);
        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isPresent();
    }

    private void awaitWaiting(String name, int count) {
        Awaitility.await()
                .atMost(SOON)
                .until(() -> node.admin().find(name).orElseThrow().waiting() == count);
    }

    private FutureTask<PermitGrant> start(AcquireRequest request) {
        FutureTask<PermitGrant> acquire =
                new FutureTask<>(() -> node.semaphores().acquire(request));
        run(acquire);
        return acquire;
    }

    private void run(FutureTask<PermitGrant> task) {
        Thread thread = new Thread(task, "caller");
        thread.setDaemon(true);
        threads.add(thread);
        thread.start();
    }
}
