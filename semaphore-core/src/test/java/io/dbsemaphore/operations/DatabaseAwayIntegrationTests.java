package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.awaitility.core.ThrowingRunnable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The database is away for a while, and what that does to grants that are kept alive. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class DatabaseAwayIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);

    private Schema schema;
    private TcpProxy proxy;

    @BeforeEach
    void start() {
        schema = TestDatabase.create().migrate();
        proxy = schema.newProxy();
    }

    @AfterEach
    void drop() {
        schema.close();
    }

    @Test
    void forLessThanTheTtlCostsNothing() {
        try (Node node = Node.behind(proxy, schema, TestSettings.instanceTimeout(Duration.ofSeconds(30)))) {
            String name = node.semaphore(1);
            AcquireRequest request = AcquireRequest.of(name).withTtl(Duration.ofSeconds(12));

            node.semaphores().executeWithoutResult(request, grant -> {
                Instant expiry = grant.expiresAt().orElseThrow();
                leave();
                remainsTrue(
                        Duration.ofSeconds(7),
                        () -> assertThat(grant.isHeld())
                                .as("held while the database is away")
                                .isTrue());
                comeBack();

                remainsTrue(Duration.ofSeconds(6), () -> {
                    assertThat(grant.isHeld()).isTrue();
                    assertThat(SemaphoreRows.states(schema, grant.externalId())).containsExactly("ACQUIRED");
                });
                assertThat(node.semaphores().find(grant.externalId()).flatMap(PermitGrant::expiresAt))
                        .hasValueSatisfying(later -> assertThat(later).isAfter(expiry.plusSeconds(3)));
            });

            assertThat(node.events().of("lost")).isEmpty();
            assertThat(SemaphoreRows.held(schema, name)).isZero();
        }
    }

    @Test
    void forLongerThanTheTtlLosesTheGrantOnce() {
        try (Node node = Node.behind(proxy, schema, TestSettings.instanceTimeout(Duration.ofSeconds(30)));
                Node other = Node.on(schema, TestSettings.instanceTimeout(Duration.ofSeconds(30)))) {
            String name = node.semaphore(1);
            AcquireRequest request = AcquireRequest.of(name).withTtl(Duration.ofSeconds(3));

            node.semaphores().executeWithoutResult(request, grant -> {
                leave();
                long left = System.nanoTime();
                PermitGrant next =
                        other.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON));
                boolean heldByBoth = grant.isHeld();

                assertThat(heldByBoth).as("held past its deadline").isFalse();
                assertThat(Duration.ofNanos(System.nanoTime() - left)).isGreaterThan(Duration.ofSeconds(1));
                Awaitility.await("the loss to be told")
                        .atMost(SOON)
                        .untilAsserted(
                                () -> assertThat(node.events().subjects("lost")).containsExactly(grant.externalId()));
                comeBack();

                remainsTrue(Duration.ofSeconds(3), () -> {
                    assertThat(grant.isHeld()).isFalse();
                    assertThat(next.isHeld()).isTrue();
                    assertThat(node.events().of("lost")).hasSize(1);
                });
                assertThat(grant.release()).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
                assertThat(SemaphoreRows.states(schema, next.externalId())).containsExactly("ACQUIRED");
            });

            assertThat(SemaphoreRows.held(schema, name)).isEqualTo(1);
            assertThat(node.events().of("released")).isEmpty();
        }
    }

    @Test
    void forLongerThanTheInstanceTimeoutCostsALiveInstanceNothing() throws Exception {
        Duration timeout = Duration.ofSeconds(10);
        try (Node node = Node.behind(proxy, schema, TestSettings.instanceTimeout(timeout));
                Node other = Node.behind(proxy, schema, TestSettings.instanceTimeout(timeout))) {
            String name = node.semaphore(1);
            AtomicBoolean enough = new AtomicBoolean();
            AtomicInteger answers = new AtomicInteger();
            PermitGrant grant = node.semaphores()
                    .acquire(
                            AcquireRequest.of(name).withTtl(Duration.ofHours(6)).withKeepAlive(true));
            leave();
            Awaitility.await("an outage longer than the timeout")
                    .pollDelay(timeout.plusSeconds(1))
                    .atMost(timeout.plus(SOON))
                    .untilAsserted(() -> assertThat(grant.isHeld())
                            .as("held although no heartbeat arrives")
                            .isFalse());
            comeBack();
            Future<Integer> hammering = Concurrently.async("hammer", () -> hammer(other, name, enough, answers));

            Awaitility.await("a heartbeat").atMost(Duration.ofSeconds(8)).until(grant::isHeld);
            remainsTrue(Duration.ofSeconds(6), () -> {
                assertThat(grant.isHeld()).isTrue();
                assertThat(SemaphoreRows.states(schema, grant.externalId())).containsExactly("ACQUIRED");
            });
            enough.set(true);

            assertThat(hammering.get(SOON.toSeconds(), TimeUnit.SECONDS))
                    .as("grants")
                    .isZero();
            assertThat(answers).as("tries that the database has answered").hasValueGreaterThan(10);
            assertThat(node.events().of("lost")).isEmpty();
            assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
        }
    }

    /** Only for the instance, which cannot ask about its grant when its work ends; another one has its permits by then. */
    @Test
    void forLongerThanTheWorkTellsOfTheLossAfterwards() {
        Duration timeout = Duration.ofSeconds(3);
        try (Node node = Node.behind(proxy, schema, TestSettings.instanceTimeout(timeout));
                Node other = Node.on(schema, TestSettings.instanceTimeout(timeout))) {
            String name = node.semaphore(1);
            PermitGrant grant = node.semaphores()
                    .acquire(
                            AcquireRequest.of(name).withTtl(Duration.ofHours(6)).withKeepAlive(true));
            leave();
            other.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON));

            assertThat(grant.release()).isEqualTo(ReleaseOutcome.DEFERRED);
            assertThat(node.events().of("lost")).isEmpty();
            comeBack();

            Awaitility.await("the loss to be told")
                    .atMost(SOON)
                    .untilAsserted(
                            () -> assertThat(node.events().subjects("lost")).containsExactly(grant.externalId()));
            assertThat(node.events().of("released")).isEmpty();
        }
    }

    private void leave() {
        proxy.refuse(true);
        proxy.cutAll();
    }

    private void comeBack() {
        proxy.refuse(false);
    }

    private static int hammer(Node node, String name, AtomicBoolean enough, AtomicInteger answers) {
        int granted = 0;
        while (!enough.get()) {
            granted += node.semaphores().tryAcquire(AcquireRequest.of(name)).isPresent() ? 1 : 0;
            answers.incrementAndGet();
        }
        return granted;
    }

    private static void remainsTrue(Duration duration, ThrowingRunnable assertion) {
        Awaitility.await()
                .pollInterval(Duration.ofMillis(50))
                .during(duration)
                .atMost(duration.plus(SOON))
                .untilAsserted(assertion);
    }
}
