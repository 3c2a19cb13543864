package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreListener;
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
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.ThreadLocalRandom;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.dao.CannotAcquireLockException;

/** Whatever else waits for a lock or blocks: what is kept alive stays held. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UndisturbedKeepAliveIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration TTL = Duration.ofSeconds(5);
    private static final Duration LONGER_THAN_THE_TTL = Duration.ofSeconds(7);
    private static final Duration STILL_LONGER = Duration.ofSeconds(10);

    @RegisterExtension
    static final NodesPerTest nodes = new NodesPerTest();

    private final SemaphoreSettings settings = TestSettings.instanceTimeout(SOON);
    private final SemaphoreSettings patient = settings.with(SemaphoreSettings.LOCK_WAIT_TIMEOUT, STILL_LONGER);
    private final Node node = nodes.start(patient);
    private final Node other = nodes.start(patient);

    @Test
    void whileAForcedReleaseWaitsForABusinessTransaction() {
        Duration lessThanTheLockWait = Duration.ofSeconds(4);
        Node operator = nodes.start(settings);
        List<PermitGrant> kept = keep(node, 5, lessThanTheLockWait);
        PermitGrant checked = keep(node, 1, lessThanTheLockWait).get(0);

        node.transaction().executeWithoutResult(status -> {
            node.semaphores().requireHeld(checked);
            long begin = System.nanoTime();
            Future<ReleaseOutcome> forced = Concurrently.async(
                    "operator", () -> operator.admin().forceRelease(checked.externalId(), "operator", "a drill"));

            staysHeldUntil(kept, forced);

            assertThat(Duration.ofNanos(System.nanoTime() - begin))
                    .isLessThan(Duration.ofSeconds(9)); // one lock wait of 5 s
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> forced.get(1, TimeUnit.SECONDS))
                    .withCauseInstanceOf(CannotAcquireLockException.class)
                    .withMessageContaining(checked.externalId());
        });

        assertThat(checked.isHeld()).isTrue();
        assertThat(node.events().of("lost")).isEmpty();
        assertThat(other.admin().forceRelease(checked.externalId(), "operator", "a drill"))
                .isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void whileManyReleasesByExternalIdWaitForABusinessTransaction() throws Exception {
        List<PermitGrant> kept = keep(other, 1, TTL);
        String free = node.semaphore(1);
        List<PermitGrant> checked = IntStream.range(0, 12)
                .mapToObj(i -> node.semaphores().acquire(AcquireRequest.of(node.semaphore(1))))
                .toList();
        List<Future<ReleaseOutcome>> releases = new ArrayList<>();

        node.transaction().executeWithoutResult(status -> {
            checked.forEach(grant -> node.semaphores().requireHeld(grant));
            checked.forEach(grant -> releases.add(
                    Concurrently.async("release", () -> other.semaphores().release(grant.externalId()))));

            int acquired = 0;
            long end = System.nanoTime() + LONGER_THAN_THE_TTL.toNanos();
            while (System.nanoTime() < end) {
                other.semaphores().acquire(AcquireRequest.of(free)).release();
                acquired++;
                assertThat(kept).allMatch(PermitGrant::isHeld);
            }
            // releases that wait for locks do so for a second each
            assertThat(acquired).as("acquires of a free semaphore").isGreaterThan(20);
        });

        for (Future<ReleaseOutcome> release : releases) {
            assertThat(release.get(20, TimeUnit.SECONDS)).isEqualTo(ReleaseOutcome.RELEASED);
        }
        assertThat(other.events().of("lost")).isEmpty();
    }

    @Slow
    @Test
    void whileAllOtherConnectionsAreInUse() throws Exception {
        List<PermitGrant> kept = keep(node, 2, TTL);
        List<String> names =
                IntStream.range(0, 8).mapToObj(i -> node.semaphore(1)).toList();
        List<RowLock> locks = new ArrayList<>();
        try {
            for (String name : names) {
                locks.add(RowLock.ofSemaphore(nodes.schema(), name));
            }
            List<Future<Object>> waiting = names.stream()
                    .map(name -> Concurrently.async("operator", (Callable<Object>) () -> {
                        node.admin().setCapacity(name, 2, "operator", "a drill"); // waits for the row
                        return true;
                    }))
                    .toList();

            staysHeldFor(kept, LONGER_THAN_THE_TTL);

            assertThat(waiting).noneMatch(Future::isDone);
        } finally {
            for (RowLock lock : locks) {
                lock.close();
            }
        }
        assertThat(node.events().of("lost")).isEmpty();
    }

    @Test
    void whileOneOfThemIsLocked() throws Exception {
        List<PermitGrant> kept = keep(node, 5, TTL);
        PermitGrant locked = keep(node, 1, Duration.ofSeconds(12)).get(0);

        try (RowLock lock = RowLock.ofRequest(nodes.schema(), locked.externalId())) {
            staysHeldFor(kept, Duration.ofSeconds(8)); // the locked one was due after four
        }

        assertThat(locked.isHeld()).isTrue();
        assertThat(node.events().of("lost")).isEmpty();
    }

    @Slow
    @Test
    void whileTheHeartbeatIsLocked() throws Exception {
        List<PermitGrant> kept = keep(node, 2, TTL);

        try (RowLock lock = RowLock.ofInstances(nodes.schema())) {
            staysHeldFor(kept, STILL_LONGER); // heartbeats are sent every 3.3 seconds
        }

        assertThat(node.events().of("lost")).isEmpty();
    }

    @Slow
    @Test
    void whileAListenerBlocksThatIsToldOfALoss() throws Exception {
        CountDownLatch told = new CountDownLatch(1);
        CountDownLatch done = new CountDownLatch(1);
        SemaphoreListener blocking = new SemaphoreListener() {
            @Override
            public void lost(PermitGrant grant) {
                told.countDown();
                try {
                    assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
                } catch (InterruptedException interrupt) {
                    Thread.currentThread().interrupt();
                }
            }
        };
        try (Node blocked = Node.on(nodes.schema(), TestSettings.instanceTimeout(Duration.ofSeconds(20)), blocking)) {
            PermitGrant lost = keep(blocked, 1, TTL).get(0);
            List<PermitGrant> kept = keep(blocked, 2, TTL);
            other.admin().forceRelease(lost.externalId(), "operator", "a drill");
            assertThat(told.await(20, TimeUnit.SECONDS)).isTrue();

            staysHeldFor(kept, LONGER_THAN_THE_TTL);

            done.countDown();
            Awaitility.await()
                    .atMost(SOON)
                    .untilAsserted(
                            () -> assertThat(blocked.events().subjects("lost")).containsExactly(lost.externalId()));
        } finally {
            done.countDown();
        }
    }

    /** Releases, forced releases, renewals, acquires and sweeps, all of which meet locks of others at random. */
    @Test
    void whileEverythingElseWaitsForLocksOfOthers() throws Exception {
        long seed = ThreadLocalRandom.current().nextLong();
        List<PermitGrant> kept = keep(node, 50, TTL);
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
            staysHeldUntil(kept, disturber);
            assertThat((Integer) disturber.get(1, TimeUnit.SECONDS))
                    .as("seed %d", seed)
                    .isPositive();
        }

        assertThat(node.events().subjects("lost"))
                .as("seed %d", seed)
                .doesNotContainAnyElementsOf(
                        kept.stream().map(PermitGrant::externalId).toList());
        kept.forEach(grant -> node.transaction()
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

    private static List<PermitGrant> keep(Node node, int grants, Duration ttl) {
        return IntStream.range(0, grants)
                .mapToObj(i -> node.semaphores()
                        .acquire(AcquireRequest.of(node.semaphore(1))
                                .withTtl(ttl)
                                .withKeepAlive(true)))
                .toList();
    }

    private static void staysHeldFor(List<PermitGrant> grants, Duration duration) {
        Awaitility.await("to stay held")
                .pollInterval(Duration.ofMillis(50))
                .during(duration)
                .atMost(duration.plus(SOON))
                .failFast("lost", () -> !grants.stream().allMatch(PermitGrant::isHeld))
                .until(() -> true);
    }

    private static void staysHeldUntil(List<PermitGrant> grants, Future<?> end) {
        Awaitility.await("to stay held")
                .pollInterval(Duration.ofMillis(50))
                .atMost(Duration.ofSeconds(30))
                .failFast("lost", () -> !grants.stream().allMatch(PermitGrant::isHeld))
                .until(end::isDone);
    }
}
