package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.admin.SemaphoreMaintenance.MaintenanceTask;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.NodesPerTest;
import io.dbsemaphore.testing.node.RowLock;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The details that meters need: of what, how much, how long, how often. */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ListenerDetailIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(30);

    @RegisterExtension
    static final NodesPerTest nodes = new NodesPerTest();

    private final Details details = new Details();
    private final Node node = nodes.start(shortLockWait(), details);

    @Test
    void tellsWhatWasReleasedAndHowLongItWasHeld() {
        String one = node.semaphore(1);
        String many = node.semaphore(5);
        long begun = System.nanoTime();
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(one).withPermits(many, 3));
        long acquired = System.nanoTime();
        Awaitility.await().until(() -> System.nanoTime() - acquired > TimeUnit.MILLISECONDS.toNanos(50));

        grant.release();

        long released = System.nanoTime();
        assertThat(details.released).singleElement().satisfies(event -> {
            assertThat(event.externalId()).isEqualTo(grant.externalId());
            assertThat(event.permits()).isEqualTo(Map.of(one, 1, many, 3));
            assertThat(event.held().orElseThrow()).isBetween(Duration.ofMillis(50), Duration.ofNanos(released - begun));
        });
    }

    @Test
    void tellsWhatWasReleasedAtShutdown() {
        String name = node.semaphore(1);
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));

        node.close();

        assertThat(details.released).singleElement().satisfies(event -> {
            assertThat(event.externalId()).isEqualTo(grant.externalId());
            assertThat(event.permits()).isEqualTo(Map.of(name, 1));
        });
    }

    /** How long another JVM held the grant is not known. */
    @Test
    void tellsOnlyTheIdOfWhatAnotherJvmHadAcquired() {
        try (Node other = Node.on(nodes.schema(), shortLockWait())) {
            PermitGrant grant = other.semaphores().acquire(AcquireRequest.of(other.semaphore(1)));

            node.semaphores().find(grant.externalId()).orElseThrow().release();

            assertThat(node.events().subjects("released")).containsExactly(grant.externalId());
            assertThat(details.released)
                    .containsExactly(new SemaphoreListener.Released(grant.externalId(), Map.of(), Optional.empty()));
        }
    }

    @Test
    void tellsWhatAnAcquireTookBack() {
        String one = node.semaphore(1);
        String many = node.semaphore(5);
        PermitGrant expired = node.semaphores()
                .acquire(AcquireRequest.of(one).withPermits(many, 2).withTtl(Duration.ofSeconds(1)));

        node.semaphores().acquire(AcquireRequest.of(one).withWaitTime(SOON));

        Awaitility.await("the expiry")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(details.expired)
                        .containsExactly(new Details.Expired(expired.externalId(), Map.of(one, 1, many, 2))));
    }

    /** Permits were available as soon as the caller asked; that its own transaction had to reclaim them is not a wait. */
    @Test
    void tellsOfNoWaitWhereAnAcquireOnlyTookBackWhatHadExpired() {
        String name = node.semaphore(1);
        PermitGrant expired = node.semaphores()
                .acquire(AcquireRequest.of(name).withTtl(Duration.ofMinutes(1)).withKeepAlive(false));
        nodes.schema()
                .jdbc()
                .update(
                        "update permit_request set expires_at = created_at where external_id = ?",
                        expired.externalId());

        node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON));

        Awaitility.await("the expiry").atMost(SOON).until(() -> !details.expired.isEmpty());
        assertThat(details.waited).isEmpty();
    }

    @Test
    void tellsWhatTheMaintenanceTookBack() {
        String one = node.semaphore(1);
        String many = node.semaphore(5);
        PermitGrant expired = node.semaphores()
                .acquire(AcquireRequest.of(one).withPermits(many, 2).withTtl(Duration.ofSeconds(1)));

        Awaitility.await("the expiry").atMost(SOON).until(() -> {
            node.maintenance().releaseOrphans();
            return !details.expired.isEmpty();
        });

        assertThat(details.expired).containsExactly(new Details.Expired(expired.externalId(), Map.of(one, 1, many, 2)));
    }

    @Test
    void reportsCallersThatWaited() throws Exception {
        String name = node.semaphore(1);
        PermitGrant first = node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON));
        CompletableFuture<PermitGrant> second = CompletableFuture.supplyAsync(
                () -> node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON)));
        // once it has been refused, that is
        Awaitility.await("the refusal").atMost(SOON).until(() -> details.decided.size() > 1);

        first.release();

        PermitGrant granted = second.get(30, TimeUnit.SECONDS);
        Awaitility.await("its being told")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(details.waited).containsExactly(granted.externalId()));
    }

    /** The transaction fails for good for the acquire that it was to decide, but not for the piggy-backed release. */
    @Test
    void reportsTheRetryOfAPiggyBackedRelease() throws Exception {
        String name = node.semaphore(1);
        PermitGrant first = node.semaphores().acquire(AcquireRequest.of(name));
        CompletableFuture<PermitGrant> second = CompletableFuture.supplyAsync(
                () -> node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON)));
        Awaitility.await("the refusal").atMost(SOON).until(() -> details.decided.size() > 1);
        SQLException failure = new SQLException("on purpose", "22001", 1406);
        node.gate().failBefore("insert into permit_request", failure);

        assertThat(first.release()).isEqualTo(ReleaseOutcome.RELEASED);

        assertThat(second).failsWithin(SOON);
        Awaitility.await("its being told")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(details.retried)
                        .singleElement()
                        .satisfies(told -> assertThat(told).hasRootCause(failure)));
        assertThat(SemaphoreRows.held(nodes.schema(), name)).isZero();
    }

    @Test
    void tellsHowManyAcquiresOneTransactionDecided() {
        String name = node.semaphore(100);
        int acquires = 20;
        List<CompletableFuture<PermitGrant>> grants = IntStream.range(0, acquires)
                .mapToObj(i -> CompletableFuture.supplyAsync(
                        () -> node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON))))
                .toList();

        grants.forEach(CompletableFuture::join);

        Awaitility.await("the last batch")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(details.decided.stream()
                                .mapToInt(Integer::intValue)
                                .sum())
                        .isEqualTo(acquires));
        assertThat(details.decided).allSatisfy(each -> assertThat(each).isPositive());
    }

    @Test
    void tellsThatATransactionIsTriedAgain() throws Exception {
        String name = node.semaphore(1);
        CompletableFuture<PermitGrant> grant;
        try (RowLock lock = RowLock.ofSemaphore(nodes.schema(), name)) {
            AcquireRequest request = AcquireRequest.of(name).withWaitTime(SOON.multipliedBy(2));
            grant = CompletableFuture.supplyAsync(() -> node.semaphores().acquire(request));
            Awaitility.await("another attempt").atMost(SOON).until(() -> !details.retried.isEmpty());
        }

        assertThat(grant.get(30, TimeUnit.SECONDS).isHeld()).isTrue();
        assertThat(details.retried).allSatisfy(failure -> assertThat(failure).isNotNull());
    }

    /** The release that waits for a row is tried again by another path than the acquire. */
    @Test
    void tellsThatAReleaseIsTriedAgain() throws Exception {
        String name = node.semaphore(1);
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));
        CompletableFuture<?> release;
        try (RowLock lock = RowLock.ofRequest(nodes.schema(), grant.externalId())) {
            release = CompletableFuture.supplyAsync(grant::release);
            Awaitility.await("another attempt").atMost(SOON).until(() -> !details.retried.isEmpty());
        }
        release.get(30, TimeUnit.SECONDS);

        assertThat(SemaphoreRows.held(nodes.schema(), name)).isZero();
    }

    @Test
    void tellsThatTheMaintenanceIsDone() {
        node.maintenance().releaseOrphans();
        node.maintenance().deleteReleasedRequests();
        node.maintenance().deleteCapacityHistory();

        assertThat(details.maintained)
                .containsExactly(
                        MaintenanceTask.ORPHAN_RELEASE,
                        MaintenanceTask.REQUEST_CLEANUP,
                        MaintenanceTask.HISTORY_CLEANUP);
    }

    private static SemaphoreSettings shortLockWait() {
        return TestSettings.defaults()
                .with(SemaphoreSettings.SHUTDOWN_TIMEOUT, Duration.ofSeconds(1))
                .with(SemaphoreSettings.LOCK_WAIT_TIMEOUT, Duration.ofSeconds(3)) // a statement waits for one
                .with(SemaphoreSettings.DECISION_TIMEOUT, Duration.ofSeconds(10))
                .with(SemaphoreSettings.MAX_ATTEMPTS, 20);
    }

    /** Remembers the details. */
    private static final class Details implements SemaphoreListener {

        private final List<Released> released = new CopyOnWriteArrayList<>();
        private final List<Expired> expired = new CopyOnWriteArrayList<>();
        private final List<String> waited = new CopyOnWriteArrayList<>();
        private final List<Integer> decided = new CopyOnWriteArrayList<>();
        private final List<Throwable> retried = new CopyOnWriteArrayList<>();
        private final List<MaintenanceTask> maintained = new CopyOnWriteArrayList<>();

        @Override
        public void acquired(Acquired event) {
            if (event.waited()) {
                waited.add(event.grant().externalId());
            }
        }

        @Override
        public void released(Released event) {
            released.add(event);
        }

        @Override
        public void expired(Expired event) {
            expired.add(event);
        }

        @Override
        public void decided(Decided event) {
            decided.add(event.acquires());
        }

        @Override
        public void maintained(Maintained event) {
            maintained.add(event.task());
        }

        @Override
        public void retried(Retried event) {
            retried.add(event.failure());
        }
    }
}
