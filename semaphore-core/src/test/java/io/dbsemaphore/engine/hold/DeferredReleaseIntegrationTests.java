package io.dbsemaphore.engine.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Releases that are put off until a business transaction has ended keep up with the work. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DeferredReleaseIntegrationTests {

    private static final Duration DEADLINE = Duration.ofSeconds(30);

    @RegisterExtension
    static final Cluster cluster = new Cluster(1, 20);

    private final Node node = cluster.node(0);

    @Measured
    @Test
    void keepUpWithTheWork() {
        String name = cluster.semaphore(1_000_000);
        AtomicInteger done = new AtomicInteger();
        long end = System.nanoTime() + Duration.ofSeconds(4).toNanos();

        Concurrently.run(12, DEADLINE, index -> {
            while (System.nanoTime() < end) {
                node.transaction()
                        .executeWithoutResult(status -> node.semaphores()
                                .executeWithoutResult(
                                        AcquireRequest.of(name),
                                        grant -> node.semaphores().requireHeld(grant)));
                done.incrementAndGet();
            }
        });

        long left = cluster.held(name);
        await().atMost(20, TimeUnit.SECONDS).until(() -> cluster.held(name) == 0);
        Measurement.check(() ->
                assertThat(left).as("held after %d transactions", done.get()).isLessThan(100));
    }

    @Measured
    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL}) // H2 has no shared row lock
    void ofOneGrantThatIsLockedHoldUpNoOther() throws Exception {
        String locked = cluster.semaphore(1);
        String free = cluster.semaphore(1);
        PermitGrant first = node.semaphores().acquire(AcquireRequest.of(locked));
        Long permit = cluster.schema().jdbc().queryForObject("""
                select p.id from permit p join permit_request r on r.id = p.permit_request_id
                where r.external_id = ?""", Long.class, first.externalId());
        String share = cluster.schema().kind() == DatabaseKind.MARIADB ? "lock in share mode" : "for share";
        List<Duration> releases = new ArrayList<>();

        try (RowLock lock = RowLock.begin(cluster.schema())) {
            lock.execute("select id from permit where id = ? " + share, permit);
            releaseAfterCheck(first);

            for (int i = 0; i < 5; i++) {
                PermitGrant second = node.semaphores().acquire(AcquireRequest.of(free));
                long begun = System.nanoTime();
                releaseAfterCheck(second);
                await().pollInterval(20, TimeUnit.MILLISECONDS).until(() -> cluster.held(free) == 0);
                releases.add(Duration.ofNanos(System.nanoTime() - begun));
            }

            assertThat(cluster.held(locked)).isEqualTo(1);
        }
        await().atMost(10, TimeUnit.SECONDS).until(() -> cluster.held(locked) == 0);
        Measurement.check(() -> assertThat(releases.stream().sorted().toList().get(2))
                .as("median of %s; a statement waits for a row for a second", releases)
                .isLessThan(Duration.ofMillis(700)));
    }

    /** A release by external id that a locked row delays for longer than the time to live as it was read. */
    @Test
    void ofAGrantThatAnotherInstanceKeepsAliveIsNotGivenUp() throws Exception {
        String name = cluster.semaphore(1);
        PermitGrant grant = node.semaphores()
                .acquire(AcquireRequest.of(name)
                        .withExternalId(cluster.externalId())
                        .withTtl(Duration.ofSeconds(2))
                        .withKeepAlive(true));
        Node other = cluster.start(cluster.schema().newPool(6), TestSettings.limits(1, 10, 1));

        try (RowLock lock = RowLock.ofPermits(cluster.schema(), grant.externalId())) {
            assertThat(other.semaphores().release(grant.externalId())).isEqualTo(ReleaseOutcome.DEFERRED);
            TimeUnit.SECONDS.sleep(5); // two times to live
        }

        await().atMost(15, TimeUnit.SECONDS).until(() -> cluster.held(name) == 0);
    }

    private void releaseAfterCheck(PermitGrant grant) {
        node.transaction().executeWithoutResult(status -> {
            node.semaphores().requireHeld(grant);
            assertThat(grant.release()).isEqualTo(ReleaseOutcome.DEFERRED);
        });
    }
}
