package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import java.util.Map;
import java.util.Random;
import java.util.TreeMap;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/**
 * No permit stays unused while a caller waits that could be granted it, whoever comes, waits, leaves or releases, in whatever
 * instance. {@code -Dsemaphore.test.seed=…} repeats what the callers do, {@code -Dsemaphore.test.seconds=…} goes on for longer.
 */
@Slow
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnusedPermitsIntegrationTests {

    private static final int NODES = 3;
    private static final int THREADS = 15;
    private static final int[] CAPACITIES = {1, 3, 2, 5, 2, 4};
    private static final Duration DURATION = Duration.ofSeconds(Long.getLong("semaphore.test.seconds", 12));
    private static final Duration MAX_UNUSED = Duration.ofMillis(500);

    @RegisterExtension
    static final Cluster cluster = new Cluster(NODES);

    private final long seed = Long.getLong("semaphore.test.seed", System.nanoTime());
    private final Map<String, Integer> capacities = new TreeMap<>();
    private final Map<String, PeakCounter> used = new ConcurrentHashMap<>();
    private final Map<String, AtomicInteger> outcomes = new ConcurrentHashMap<>();
    private final WaitingCalls calls = new WaitingCalls();

    @Measured
    @Test
    void noPermitStaysUnusedWhileACallerWaitsForIt() throws Exception {
        capacities.clear();
        used.clear();
        outcomes.clear();
        for (int capacity : CAPACITIES) {
            create(cluster.semaphore(capacity), capacity);
        }
        UnusedPermits unused = new UnusedPermits(cluster.schema(), capacities.keySet(), calls);
        AtomicBoolean over = new AtomicBoolean();
        Future<UnusedPermits> watch = Concurrently.async(() -> {
            while (!over.get()) {
                unused.look();
            }
            return unused;
        });
        long end = System.nanoTime() + DURATION.toNanos();
        try {
            Concurrently.run(THREADS, DURATION.plusSeconds(90), thread -> {
                Random random = new Random(seed + thread);
                RandomCaller caller = new RandomCaller(cluster.node(thread), capacities, used, calls, outcomes, random);
                while (System.nanoTime() < end) {
                    caller.run();
                    LockSupport.parkNanos(Duration.ofMillis(random.nextInt(random.nextInt(4) == 0 ? 200 : 10))
                            .toNanos());
                }
            });
        } finally {
            over.set(true);
        }

        String seen =
                "Seed %d: %s, longest unused: %s".formatted(seed, new TreeMap<>(outcomes), Concurrently.get(watch));
        assertThat(used)
                .as(seen)
                .allSatisfy((name, counter) -> assertThat(counter.peak()).isBetween(1, capacities.get(name)));
        new SemaphoreRows(cluster.schema()).awaitNothingHeld(Duration.ofSeconds(10), capacities.keySet());
        await(seen).atMost(Duration.ofSeconds(10)).until(() -> records() == 0);
        Measurement.check(() -> assertThat(unused.longest()).as(seen).isLessThan(MAX_UNUSED));
    }

    /** All instances know it, so that no first use delays anybody. */
    private void create(String name, int capacity) {
        capacities.put(name, capacity);
        used.put(name, new PeakCounter());
        for (int node = 0; node < NODES; node++) {
            cluster.node(node).semaphores().acquire(AcquireRequest.of(name)).release();
        }
    }

    private static int records() {
        Integer records =
                cluster.schema().jdbc().queryForObject("select count(*) from semaphore_waiter", Integer.class);
        return records == null ? 0 : records;
    }
}
