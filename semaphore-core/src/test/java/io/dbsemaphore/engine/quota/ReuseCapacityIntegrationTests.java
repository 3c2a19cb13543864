package io.dbsemaphore.engine.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Hiccups;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.atomic.LongAdder;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Threads of two instances that do not wait, so that released permits are idle and several threads reach for the same one. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Promise
class ReuseCapacityIntegrationTests {

    private static final int CAPACITY = 2;
    private static final int THREADS = 8;

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final String name = cluster.semaphore(CAPACITY);
    private final PeakCounter inUse = new PeakCounter();
    private final Set<Long> tokens = ConcurrentHashMap.newKeySet();
    private final LongAdder uses = new LongAdder();
    private final LongAdder reuses = new LongAdder();

    @Measured
    @Test
    void neverUseMoreThanTheCapacity() {
        try (Node one = node();
                Node other = node()) {
            List<Node> nodes = List.of(one, other);
            long end = System.nanoTime() + Duration.ofSeconds(3).toNanos();

            Concurrently.run(THREADS, Duration.ofSeconds(40), thread -> {
                while (System.nanoTime() < end) {
                    use(nodes.get(thread % 2));
                }
            });
        }

        assertThat(inUse.peak()).as("the most in use at once").isBetween(1, CAPACITY);
        assertThat(tokens).as("distinct tokens of the uses").hasSize(uses.intValue());
        Measurement.check(() -> assertThat(reuses.sum())
                .as("reuses, each within a tenth of a second")
                .isPositive());
    }

    /** While nothing is withheld for that caller, a released permit is neither handed to it nor kept idle. */
    @Measured
    @Test
    void aReleaseIsQuickWhileACallerOfSeveralSemaphoresWaits() throws Exception {
        String full = cluster.semaphore(1);
        try (Node node = node(Duration.ofSeconds(10))) {
            PermitGrant held = node.semaphores().acquire(AcquireRequest.of(full));
            CompletableFuture<PermitGrant> both =
                    node.semaphores().acquireAsync(AcquireRequest.of(name, full).withWaitTime(Duration.ofSeconds(30)));
            await().until(() -> node.admin().find(full).orElseThrow().waiting() == 1);

            Duration longest = longestRelease(node);

            held.release();
            Concurrently.get(both).release();
            Measurement.check(() -> assertThat(longest).isLessThan(Duration.ofMillis(500)));
        }
    }

    private Duration longestRelease(Node node) {
        Duration longest = Duration.ZERO;
        try (Hiccups hiccups = Hiccups.measured()) {
            long end = System.nanoTime() + Duration.ofMillis(2_500).toNanos();
            while (System.nanoTime() < end) {
                Optional<PermitGrant> granted =
                        node.semaphores().tryAcquire(AcquireRequest.of(name).withKeepAlive(true));
                long begun = System.nanoTime();
                granted.ifPresent(PermitGrant::release);
                Duration release = Duration.ofNanos(System.nanoTime() - begun);
                longest = release.compareTo(longest) > 0 ? release : longest;
            }
            return longest.minus(hiccups.worst());
        }
    }

    private void use(Node node) {
        Optional<PermitGrant> granted =
                node.semaphores().tryAcquire(AcquireRequest.of(name).withKeepAlive(true));
        if (granted.isPresent()) {
            inUse.enter();
            tokens.add(granted.get().fencingToken());
            uses.increment();
            reuses.add(granted.get().isReused() ? 1 : 0);
            Thread.yield();
            inUse.leave();
            granted.get().release();
        }
    }

    private static Node node() {
        return node(Duration.ofMillis(100));
    }

    private static Node node(Duration reuse) {
        return Node.on(
                cluster.schema(),
                TestSettings.defaults()
                        .with(
                                SemaphoreSettings.REUSE,
                                PerSemaphore.all(Duration.ZERO).with("s*", reuse)));
    }
}
