package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.NodesPerTest;
import io.dbsemaphore.testing.node.RowLock;
import java.sql.SQLTransientException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicReference;
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

    @Measured
    @Test
    void whileAForcedReleaseWaitsForABusinessTransaction() {
        Duration lessThanTheLockWait = Duration.ofSeconds(8);
        Node operator = nodes.start(patient);
        AtomicReference<Duration> took = new AtomicReference<>();
        KeptGrants kept = KeptGrants.of(node, 5, lessThanTheLockWait);
        PermitGrant checked = KeptGrants.of(node, 1, lessThanTheLockWait).first();

        node.transaction().executeWithoutResult(status -> {
            node.semaphores().requireHeld(checked);
            long begin = System.nanoTime();
            Future<ReleaseOutcome> forced = Concurrently.async(
                    "operator", () -> operator.admin().forceRelease(checked.externalId(), "operator", "a drill"));

            kept.stayHeldUntil(forced);

            took.set(Duration.ofNanos(System.nanoTime() - begin));
            assertThatExceptionOfType(ExecutionException.class)
                    .isThrownBy(() -> forced.get(1, TimeUnit.SECONDS))
                    .withCauseInstanceOf(CannotAcquireLockException.class)
                    .withMessageContaining(checked.externalId());
        });

        assertThat(checked.isHeld()).isTrue();
        assertThat(node.events().of("lost")).isEmpty();
        assertThat(other.admin().forceRelease(checked.externalId(), "operator", "a drill"))
                .isEqualTo(ReleaseOutcome.RELEASED);
        Measurement.check(() -> assertThat(took.get()).as("one lock wait").isLessThan(STILL_LONGER.plusSeconds(8)));
    }

    /** Its release by another process is looked up when its TTL has passed. */
    @Test
    void whileItCannotBeToldWhatBecameOfAnExpiredGrant() {
        PermitGrant expired =
                node.semaphores().acquire(AcquireRequest.of(node.semaphore(1)).withTtl(Duration.ofSeconds(1)));
        other.semaphores().release(expired.externalId());
        String lookUp = "external_id, changed_at, ";
        for (int look = 0; look < 1_000; look++) {
            node.gate().failAfter(lookUp, new SQLTransientException("locked"));
        }
        KeptGrants kept = KeptGrants.of(node, 1, TTL.multipliedBy(2));

        kept.stayHeldFor(LONGER_THAN_THE_TTL.multipliedBy(2));

        assertThat(node.gate().count(lookUp)).isPositive();
        assertThat(node.events().of("lost")).isEmpty();
    }

    @Slow
    @Test
    void whileManyReleasesByExternalIdWaitForABusinessTransaction() throws Exception {
        KeptGrants kept = KeptGrants.of(other, 1, TTL);
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
                assertThat(kept.areHeld()).isTrue();
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
        KeptGrants kept = KeptGrants.of(node, 2, TTL);
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

            kept.stayHeldFor(LONGER_THAN_THE_TTL);

            assertThat(waiting).noneMatch(Future::isDone);
        } finally {
            for (RowLock lock : locks) {
                lock.close();
            }
        }
        assertThat(node.events().of("lost")).isEmpty();
    }

    @Slow
    @Test
    void whileOneOfThemIsLocked() throws Exception {
        KeptGrants kept = KeptGrants.of(node, 5, TTL);
        PermitGrant locked = KeptGrants.of(node, 1, Duration.ofSeconds(12)).first();

        try (RowLock lock = RowLock.ofRequest(nodes.schema(), locked.externalId())) {
            kept.stayHeldFor(Duration.ofSeconds(8)); // the locked one was due after four
        }

        assertThat(locked.isHeld()).isTrue();
        assertThat(node.events().of("lost")).isEmpty();
    }

    @Slow
    @Test
    void whileTheHeartbeatIsLocked() throws Exception {
        KeptGrants kept = KeptGrants.of(node, 2, TTL);

        try (RowLock lock = RowLock.ofInstances(nodes.schema())) {
            kept.stayHeldFor(STILL_LONGER); // heartbeats are sent every 3.3 seconds
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
            public void lost(Lost event) {
                told.countDown();
                try {
                    assertThat(done.await(60, TimeUnit.SECONDS)).isTrue();
                } catch (InterruptedException interrupt) {
                    Thread.currentThread().interrupt();
                }
            }
        };
        try (Node blocked = Node.on(nodes.schema(), TestSettings.instanceTimeout(Duration.ofSeconds(20)), blocking)) {
            PermitGrant lost = KeptGrants.of(blocked, 1, TTL).first();
            KeptGrants kept = KeptGrants.of(blocked, 2, TTL);
            other.admin().forceRelease(lost.externalId(), "operator", "a drill");
            assertThat(told.await(20, TimeUnit.SECONDS)).isTrue();

            kept.stayHeldFor(LONGER_THAN_THE_TTL);

            done.countDown();
            Awaitility.await()
                    .atMost(SOON)
                    .untilAsserted(
                            () -> assertThat(blocked.events().subjects("lost")).containsExactly(lost.externalId()));
        } finally {
            done.countDown();
        }
    }
}
