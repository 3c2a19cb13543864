package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.atomic.AtomicIntegerArray;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Instances of which only some take part in the common order, as while a fleet is configured anew. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Promise
class MixedFairnessIntegrationTests {

    private static final int CAPACITY = 2;
    private static final int THREADS = 8;
    private static final Duration HOLD = Duration.ofMillis(5);
    private static final Duration PAUSE = Duration.ofMillis(20);

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private static List<Node> nodes;

    @BeforeAll
    static void startAnUnfairInstance() {
        Node unfair = cluster.start(
                cluster.schema().newPool(THREADS),
                TestSettings.defaults().with(SemaphoreSettings.FAIR, PerSemaphore.all(false)));
        nodes = List.of(cluster.node(0), unfair);
    }

    /** Between two grants each thread pauses, so that permits are available at times: nothing is withheld for an unfair instance. */
    @Measured
    @Test
    void allAreServedWithinTheCapacity() {
        String name = cluster.semaphore(CAPACITY);
        AcquireRequest request = AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(30));
        PeakCounter inUse = new PeakCounter();
        AtomicIntegerArray grants = new AtomicIntegerArray(nodes.size());
        long end = System.nanoTime() + Duration.ofSeconds(4).toNanos();

        Concurrently.run(THREADS, Duration.ofSeconds(45), thread -> {
            int node = thread % nodes.size();
            while (System.nanoTime() < end) {
                try (PermitGrant grant = nodes.get(node).semaphores().acquire(request)) {
                    inUse.enter();
                    LockSupport.parkNanos(HOLD.toNanos());
                    inUse.leave();
                }
                grants.incrementAndGet(node);
                LockSupport.parkNanos(PAUSE.toNanos());
            }
        });

        assertThat(inUse.peak()).isLessThanOrEqualTo(CAPACITY);
        Measurement.check(() -> {
            assertThat(inUse.peak()).isEqualTo(CAPACITY);
            assertThat(grants.get(0))
                    .as("grants of the fair instance: %s", grants)
                    .isGreaterThanOrEqualTo(THREADS);
            assertThat(grants.get(1))
                    .as("grants of the unfair instance: %s", grants)
                    .isGreaterThanOrEqualTo(THREADS);
        });
    }
}
