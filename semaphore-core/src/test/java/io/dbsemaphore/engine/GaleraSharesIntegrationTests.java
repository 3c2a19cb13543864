package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.GaleraCluster;
import io.dbsemaphore.testing.Slow;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Of two servers that are written to, neither keeps a busy semaphore to the application that uses it. */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GaleraSharesIntegrationTests {

    private static final int THREADS = 8;
    private static final Duration WARM_UP = Duration.ofSeconds(2);
    private static final Duration MEASURED = Duration.ofSeconds(10);
    private static final Duration PATIENCE = Duration.ofSeconds(60);
    private static final Duration WORK = Duration.ofMillis(5);

    private static GaleraCluster galera;

    private List<Node> nodes = List.of();

    @BeforeAll
    static void startCluster() {
        GaleraCluster.assumeInstalled();
        galera = GaleraCluster.start();
    }

    @AfterAll
    static void stopCluster() {
        if (galera != null) {
            galera.close();
        }
    }

    @AfterEach
    void stopNodes() {
        nodes.forEach(Node::close);
    }

    @ParameterizedTest
    @ValueSource(ints = {1, 8})
    void areAtLeastThirtyPercent(int capacity) {
        nodes = IntStream.range(0, GaleraCluster.SIZE)
                .mapToObj(node -> new Node(galera.schema(node).newPool(10)))
                .toList();
        String name = "shared" + capacity;
        nodes.get(0).admin().create(name, capacity);
        galera.awaitInSync();
        AtomicIntegerArray grants = new AtomicIntegerArray(GaleraCluster.SIZE);
        long begun = System.nanoTime() + WARM_UP.toNanos();
        AtomicLong longest = new AtomicLong();

        Concurrently.run(THREADS * GaleraCluster.SIZE, Duration.ofSeconds(100), thread -> {
            int at = thread % GaleraCluster.SIZE;
            AcquireRequest request = AcquireRequest.of(name).withWaitTime(PATIENCE);
            while (System.nanoTime() - begun < MEASURED.toNanos()) {
                long asked = System.nanoTime();
                try (PermitGrant grant = nodes.get(at).semaphores().acquire(request)) {
                    longest.accumulateAndGet(System.nanoTime() - asked, Math::max);
                    LockSupport.parkNanos(WORK.toNanos());
                    if (System.nanoTime() - begun > 0) {
                        grants.addAndGet(at, grant.permits().size());
                    }
                }
            }
        });

        int all = grants.get(0) + grants.get(1);
        assertThat(List.of(grants.get(0), grants.get(1)))
                .as("grants of each; the longest wait was %s", Duration.ofNanos(longest.get()))
                .allSatisfy(each -> assertThat(each).isGreaterThanOrEqualTo(all * 3 / 10));
    }
}
