package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.LongAdder;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Many instances that wait for one semaphore poll the database about as often as few, however many callers each has. */
@Slow
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ManyInstancesIntegrationTests {

    private static final int INSTANCES = 16;
    private static final int MAX_POLLS_PER_SECOND = 150;
    private static final Duration MEASURED = Duration.ofSeconds(4);

    @RegisterExtension
    static final Cluster cluster = new Cluster(INSTANCES, 4);

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {1, 20})
    void pollLittle(int callers) throws Exception {
        String name = cluster.semaphore(1);
        PermitGrant held = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
        AcquireRequest request = AcquireRequest.of(name).withWaitTime(Duration.ofMinutes(1));
        List<CompletableFuture<PermitGrant>> waiting = new ArrayList<>();
        for (int i = 0; i < INSTANCES * callers; i++) {
            waiting.add(cluster.node(i).semaphores().acquireAsync(request));
        }
        await().atMost(Duration.ofSeconds(30))
                .until(() -> cluster.node(0).admin().find(name).orElseThrow().waiting() == INSTANCES * callers);

        double polls = pollsPerSecond();

        waiting.forEach(each -> each.cancel(true));
        held.release();
        Measurement.check(() -> assertThat(polls).isBetween(1.0, (double) MAX_POLLS_PER_SECOND));
    }

    /** The next instance in the queue changes all the time. */
    @Measured
    @Test
    void pollLittleWhilePermitsAreHandedOver() throws Exception {
        String name = cluster.semaphore(1);
        AcquireRequest request = AcquireRequest.of(name).withWaitTime(Duration.ofMinutes(1));
        AtomicBoolean goesOn = new AtomicBoolean(true);
        LongAdder grants = new LongAdder();
        List<Future<?>> callers = new ArrayList<>();
        for (int i = 0; i < INSTANCES * 8; i++) {
            SemaphoreTemplate semaphores = cluster.node(i % INSTANCES).semaphores();
            callers.add(Concurrently.async(() -> {
                while (goesOn.get()) {
                    semaphores.acquire(request).release();
                    grants.increment();
                }
                return null;
            }));
        }
        await().atMost(Duration.ofSeconds(30)).until(() -> grants.sum() > INSTANCES);

        double polls = pollsPerSecond();

        goesOn.set(false);
        for (Future<?> caller : callers) {
            Concurrently.get(caller);
        }
        Measurement.check(() -> assertThat(polls)
                .as("polls per second beside %s grants", grants)
                .isBetween(1.0, (double) MAX_POLLS_PER_SECOND));
    }

    private static double pollsPerSecond() {
        long before = polls();
        long begun = System.nanoTime();
        await().pollDelay(MEASURED).until(() -> true);
        return (polls() - before) / (Duration.ofNanos(System.nanoTime() - begun).toMillis() / 1_000.0);
    }

    private static long polls() {
        return IntStream.range(0, INSTANCES)
                .mapToLong(i -> cluster.node(i).gate().count("from semaphore_waiter"))
                .sum();
    }
}
