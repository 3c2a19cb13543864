package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The records of waiting callers are locked in one order by all transactions, so that none is in a deadlock with another. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WaiterRecordLocksIntegrationTests {

    private static final Duration WAIT_TIME = Duration.ofSeconds(30);

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    /** It waits for a lock for longer than a poll may take. */
    private static Node node;

    private final List<String> names =
            Stream.generate(() -> cluster.semaphore(1)).limit(3).toList();
    private final List<PermitGrant> held = names.stream()
            .map(name -> cluster.node(0).semaphores().acquire(AcquireRequest.of(name)))
            .toList();
    private final List<CompletableFuture<PermitGrant>> waiting =
            names.stream().map(this::acquire).toList();

    @BeforeAll
    static void startNode() {
        node = cluster.start(cluster.schema().newPool(10), TestSettings.limits(20, 25, 3));
    }

    @AfterEach
    void serveAll() throws Exception {
        held.forEach(PermitGrant::release);
        for (CompletableFuture<PermitGrant> each : waiting) {
            Concurrently.get(each).release();
        }
    }

    @Test
    void aPollNeverHoldsOneRecordWhileItWaitsForAnEarlierOne() throws Exception {
        String earlier = names.get(0);
        String later = names.get(2);
        names.forEach(name -> awaitRecorded(name, 1));
        CompletableFuture<PermitGrant> leaving = acquire(later);
        awaitRecorded(later, 2);

        try (RowLock batch = RowLock.begin(cluster.schema())) {
            batch.execute(
                    "select since from semaphore_waiter where semaphore_id = ? for update",
                    new SemaphoreRows(cluster.schema()).id(earlier));
            leaving.cancel(true);

            awaitRecorded(later, 1);
        }
    }

    private CompletableFuture<PermitGrant> acquire(String name) {
        return node.semaphores().acquireAsync(AcquireRequest.of(name).withWaitTime(WAIT_TIME));
    }

    private static void awaitRecorded(String name, int callers) {
        await().atMost(Duration.ofSeconds(15))
                .untilAsserted(() -> assertThat(recorded(name)).containsExactly(callers));
    }

    private static List<Integer> recorded(String name) {
        return cluster.schema()
                .jdbc()
                .queryForList(
                        "select w.waiting from semaphore_waiter w join semaphore s on s.id = w.semaphore_id where s.name = ?",
                        Integer.class,
                        name);
    }
}
