package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Clustered;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.cluster.GaleraCluster;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.PrimaryNodes;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Of two instances, each on a server of its own, neither monopolizes a contended semaphore. */
@Clustered
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GaleraSharesIntegrationTests {

    private static final int THREADS = 8;
    private static final int WARM_UP_SECONDS = 2;
    private static final int WINDOW_SECONDS = 10;
    private static final int SECONDS = WARM_UP_SECONDS + WINDOW_SECONDS + 2;
    private static final Duration WAIT_TIME = Duration.ofSeconds(60);
    private static final Duration WORK = Duration.ofMillis(5);

    @RegisterExtension
    private static final PrimaryNodes<GaleraCluster> GALERA = PrimaryNodes.onGalera();

    private List<AtomicIntegerArray> grantsPerSecond = List.of();
    private List<Node> nodes = List.of();

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 8})
    void areAtLeastThirtyPercentInAnyTenSeconds(int capacity) {
        nodes = nodes.isEmpty() ? GALERA.start() : nodes; // a repetition has them
        String name = GALERA.semaphore(capacity);
        grantsPerSecond = IntStream.range(0, GaleraCluster.SIZE)
                .mapToObj(node -> new AtomicIntegerArray(SECONDS))
                .toList();

        compete(name);

        Measurement.check(this::assertShares);
    }

    private void assertShares() {
        for (int from = WARM_UP_SECONDS; from <= SECONDS - WINDOW_SECONDS; from++) {
            List<Integer> grants = List.of(grants(0, from), grants(1, from));
            int all = grants.get(0) + grants.get(1);
            assertThat(grants)
                    .as("grants of each node from second %d on; per second %s", from, grantsPerSecond)
                    .allSatisfy(each -> assertThat(each).isGreaterThanOrEqualTo(all * 3 / 10));
        }
    }

    /** Each node's threads acquire and release as often as they can. */
    private void compete(String name) {
        AcquireRequest request = AcquireRequest.of(name).withWaitTime(WAIT_TIME);
        long begun = System.nanoTime();
        Concurrently.run(THREADS * GaleraCluster.SIZE, Duration.ofSeconds(100), thread -> {
            int node = thread % GaleraCluster.SIZE;
            for (int second = 0; second < SECONDS; second = secondsSince(begun)) {
                try (PermitGrant grant = nodes.get(node).semaphores().acquire(request)) {
                    LockSupport.parkNanos(WORK.toNanos());
                    grantsPerSecond
                            .get(node)
                            .addAndGet(
                                    Math.min(secondsSince(begun), SECONDS - 1),
                                    grant.permits().size());
                }
            }
        });
    }

    private static int secondsSince(long begun) {
        return (int) Duration.ofNanos(System.nanoTime() - begun).toSeconds();
    }

    private int grants(int node, int from) {
        return IntStream.range(from, from + WINDOW_SECONDS)
                .map(grantsPerSecond.get(node)::get)
                .sum();
    }
}
