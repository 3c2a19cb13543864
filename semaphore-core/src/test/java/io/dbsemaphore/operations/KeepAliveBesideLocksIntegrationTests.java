package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.NodesPerTest;
import io.dbsemaphore.testing.node.RowLock;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Releases, forced releases, renewals, acquires and sweeps, all of which meet locks of others at random. */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KeepAliveBesideLocksIntegrationTests {

    private static final Duration TTL = Duration.ofSeconds(5);
    private static final Duration LONGER_THAN_THE_TTL = Duration.ofSeconds(7);

    @RegisterExtension
    static final NodesPerTest nodes = new NodesPerTest();

    private final Node node = nodes.start(TestSettings.instanceTimeout(Duration.ofSeconds(20))
            .with(SemaphoreSettings.LOCK_WAIT_TIMEOUT, Duration.ofSeconds(10)));

    @Test
    void staysHeldWhileEverythingElseWaitsForLocks() throws Exception {
        long seed = ThreadLocalRandom.current().nextLong();
        KeptGrants kept = KeptGrants.of(node, 50, TTL);
        long end = System.nanoTime() + LONGER_THAN_THE_TTL.toNanos();
        List<Future<Object>> disturbers = IntStream.range(0, 8)
                .mapToObj(i -> Concurrently.async("disturber-" + i, (Callable<Object>) () -> {
                    Random random = new Random(seed + i);
                    int batches = 0;
                    while (System.nanoTime() < end) {
                        disturb(random);
                        batches++;
                    }
                    return batches;
                }))
                .toList();

        for (Future<Object> disturber : disturbers) {
            kept.stayHeldUntil(disturber);
            assertThat((Integer) disturber.get(1, TimeUnit.SECONDS))
                    .as("seed %d", seed)
                    .isPositive();
        }

        assertThat(node.events().subjects("lost"))
                .as("seed %d", seed)
                .doesNotContainAnyElementsOf(
                        kept.grants().stream().map(PermitGrant::externalId).toList());
        kept.grants()
                .forEach(grant -> node.transaction()
                        .executeWithoutResult(status -> node.semaphores().requireHeld(grant)));
    }

    private void disturb(Random random) throws SQLException {
        String name = node.semaphore(2);
        PermitGrant grant =
                node.semaphores().acquire(AcquireRequest.of(name).withTtl(TTL).withKeepAlive(random.nextBoolean()));
        int what = random.nextInt(6);
        try (RowLock lock = lock(random, grant, name)) {
            List<Future<Object>> waiting = new ArrayList<>();
            for (int i = 0; i < 3; i++) {
                waiting.add(Concurrently.async("waiting", () -> meet(what, grant, name)));
            }
            long until = System.nanoTime()
                    + Duration.ofMillis(500 + random.nextInt(1500)).toNanos();
            while (System.nanoTime() < until && !waiting.stream().allMatch(Future::isDone)) {
                awaitBriefly(waiting.get(0));
            }
        }
    }

    private static RowLock lock(Random random, PermitGrant grant, String name) throws SQLException {
        return switch (random.nextInt(3)) {
            case 0 -> RowLock.ofRequest(nodes.schema(), grant.externalId());
            case 1 -> RowLock.ofPermits(nodes.schema(), grant.externalId());
            default -> RowLock.ofSemaphore(nodes.schema(), name);
        };
    }

    /** A failure here is reported to its caller, which this test does not check. */
    private Object meet(int what, PermitGrant grant, String name) {
        return switch (what) {
            case 0 -> grant.release();
            case 1 -> node.semaphores().release(grant.externalId());
            case 2 -> node.admin().forceRelease(grant.externalId(), "operator", "a drill");
            case 3 -> grant.renew(TTL);
            case 4 -> node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(1)));
            default -> node.maintenance().releaseOrphans();
        };
    }

    private static void awaitBriefly(Future<?> future) {
        try {
            future.get(20, TimeUnit.MILLISECONDS);
        } catch (Exception notYetOrFailed) {
            assertThat(notYetOrFailed).isNotInstanceOf(InterruptedException.class);
        }
    }
}
