package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.concurrent.locks.LockSupport;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the pauses in which one instance lets callers of others in cost 32 threads that hand one permit over. */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HandoverPausesCostIntegrationTests {

    private static final int THREADS = 32;
    private static final int WARM = 2_000;
    private static final Duration MEASURED = Duration.ofSeconds(8);

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private final String name = cluster.semaphore(1);
    private final AtomicBoolean over = new AtomicBoolean();
    private final AtomicInteger first = new AtomicInteger();
    private final AtomicInteger second = new AtomicInteger();

    /** Each grant raises the fence by one, each announcement that callers wait by a thousand. */
    @Test
    void isNothingWhenNoCallerOfAnotherInstanceWaits() throws Exception {
        long before = fence();

        measure("32 threads of one instance", 0);

        assertThat(fence() - before).as("raised by announcements and grants").isEqualTo(first.get());
    }

    @Test
    void letsOneThreadOfAnotherInstanceIn() throws Exception {
        measure("32 threads of one instance beside 1 of another", 1);

        assertThat(second.get())
                .as("grants of the other instance")
                .isGreaterThanOrEqualTo(3 * (int) MEASURED.toSeconds());
    }

    private void measure(String what, int others) throws Exception {
        List<Future<Integer>> all = new ArrayList<>(handOver(cluster.node(0), THREADS, first));
        Awaitility.await().atMost(Duration.ofSeconds(60)).until(() -> first.get() >= WARM);
        int warm = first.get();
        all.addAll(handOver(cluster.node(1), others, second));

        LockSupport.parkNanos(MEASURED.toNanos());
        System.out.printf(
                "%s: %d and %d grants/s%n",
                what, (first.get() - warm) / MEASURED.toSeconds(), second.get() / MEASURED.toSeconds());

        over.set(true);
        for (Future<Integer> each : all) {
            Concurrently.get(each);
        }
    }

    private List<Future<Integer>> handOver(Node node, int threads, AtomicInteger grants) {
        AcquireRequest request = AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(20));
        return IntStream.range(0, threads)
                .mapToObj(thread -> Concurrently.async(() -> {
                    while (!over.get()) {
                        try (PermitGrant grant = node.semaphores().acquire(request)) {
                            grants.incrementAndGet();
                        }
                    }
                    return grants.get();
                }))
                .toList();
    }

    private long fence() {
        Long fence =
                cluster.schema().jdbc().queryForObject("select fence from semaphore where name = ?", Long.class, name);
        return fence == null ? -1 : fence;
    }
}
