package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Hiccups;
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
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * A caller that waits for two semaphores: while one is full the other is used by others at least half of the time, and yet the
 * caller is served although both are in demand. The others wait in the same instance, or in another one.
 */
@Slow
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SeveralSemaphoresIntegrationTests {

    private static final Duration LONG = Duration.ofSeconds(60);
    private static final Duration HOLD = Duration.ofMillis(40);

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private final String first = cluster.semaphore(1);
    private final String second = cluster.semaphore(1);
    private final AtomicBoolean over = new AtomicBoolean();
    private final List<Future<?>> others = new ArrayList<>();

    @AfterEach
    void end() throws Exception {
        over.set(true);
        for (Future<?> other : others) {
            Concurrently.get(other);
        }
    }

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void theOtherSemaphoreIsUsedWhileOneIsFull(int node) throws Exception {
        PermitGrant held = cluster.node(0).semaphores().acquire(AcquireRequest.of(first));
        CompletableFuture<PermitGrant> both = acquireBoth();
        awaitWaiting(first);
        Duration longestGap;
        Duration used = Duration.ZERO;
        Duration measured = Duration.ofSeconds(8);
        try (Hiccups hiccups = Hiccups.measured()) {
            Duration gap = Duration.ZERO;
            long begun = System.nanoTime();
            long last = begun;
            while (last - begun < measured.toNanos()) {
                cluster.node(node)
                        .semaphores()
                        .acquire(AcquireRequest.of(second).withWaitTime(LONG))
                        .release();
                long now = System.nanoTime();
                Duration since = Duration.ofNanos(now - last);
                used = since.compareTo(Duration.ofMillis(300)) < 0 ? used.plus(since) : used;
                gap = since.compareTo(gap) > 0 ? since : gap;
                last = now;
            }
            longestGap = gap.minus(hiccups.worst());
        }

        held.release();
        Concurrently.get(both).release();
        Duration inUse = used;
        Measurement.check(() -> {
            assertThat(longestGap).isLessThan(Duration.ofMillis(1_500));
            assertThat(inUse)
                    .as("of %s", measured)
                    .isGreaterThan(measured.dividedBy(5).multipliedBy(2));
        });
    }

    @Measured
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void bothAreGrantedAlthoughEachIsInDemand(int node) throws Exception {
        over.set(false);
        for (String name : List.of(first, second, first, second)) {
            others.add(Concurrently.async(() -> useInTurn(node, name)));
        }
        awaitWaiting(first);
        awaitWaiting(second);

        long begun = System.nanoTime();
        Concurrently.get(acquireBoth()).release();

        Duration waited = Duration.ofNanos(System.nanoTime() - begun);
        end();
        Measurement.check(() -> assertThat(waited).isLessThan(Duration.ofSeconds(6)));
    }

    private CompletableFuture<PermitGrant> acquireBoth() {
        return cluster.node(0)
                .semaphores()
                .acquireAsync(AcquireRequest.of(first, second).withWaitTime(LONG));
    }

    private Void useInTurn(int node, String name) {
        while (!over.get()) {
            try (PermitGrant grant = cluster.node(node)
                    .semaphores()
                    .acquire(AcquireRequest.of(name).withWaitTime(LONG))) {
                LockSupport.parkNanos(HOLD.toNanos());
            }
        }
        return null;
    }

    private static void awaitWaiting(String name) {
        await().until(() -> cluster.node(0).admin().find(name).orElseThrow().waiting() > 0);
    }
}
