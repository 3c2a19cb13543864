package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Grants that an instance kept alive, and that outlive its orderly end. */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OutlivingGrantIntegrationTests {

    private static final SemaphoreSettings SETTINGS = TestSettings.instanceTimeout(Duration.ofSeconds(3));
    private static final Duration HOUR = Duration.ofHours(1);

    /** Longer than an instance must be without a heartbeat until its permits are reclaimed. */
    private static final Duration LONG = Duration.ofSeconds(5);

    private static Schema schema;
    private static Node other;

    @BeforeAll
    static void start() {
        schema = TestDatabase.create().migrate();
        other = Node.on(schema, SETTINGS);
    }

    @AfterAll
    static void stop() {
        other.close();
        schema.close();
    }

    @Test
    void aGrantThatIsKeptAliveStaysHeldWhenItsInstanceHasEnded() {
        String name = other.semaphore(1);
        Node node = Node.on(schema, SETTINGS);
        PermitGrant grant = node.semaphores()
                .acquire(AcquireRequest.of(name)
                        .withTtl(HOUR)
                        .withKeepAlive(true)
                        .withReleaseAtShutdown(false));

        node.close();

        staysHeld(name, grant);
    }

    @Test
    void theHandleOfTheGrantIsHeldWhileTheInstanceIsStoppedAndAfterARestart() {
        String name = other.semaphore(1);
        try (Node node = Node.on(schema, SETTINGS)) {
            PermitGrant grant = node.semaphores()
                    .acquire(AcquireRequest.of(name)
                            .withTtl(HOUR)
                            .withKeepAlive(true)
                            .withReleaseAtShutdown(false));

            node.stop();
            assertThat(grant.isHeld()).as("while it is stopped").isTrue();
            node.start();

            staysHeld(name, grant);
            assertThat(grant.isHeld()).isTrue();
            grant.release();
            assertThat(SemaphoreRows.held(schema, name)).isZero();
        }
    }

    /** A grant without a TTL is bound to no instance, whoever repeats its acquire. */
    @Test
    void aGrantWithoutATtlOutlivesAnInstanceThatRepeatedItsAcquireWithATtl() {
        String name = other.semaphore(1);
        AcquireRequest request = AcquireRequest.of(name).withExternalId(SemaphoreRows.name("slot"));
        PermitGrant slot = other.semaphores().acquire(request.withoutTtl());
        Node node = Node.on(schema, SETTINGS);
        node.semaphores().acquire(request.withTtl(HOUR).withKeepAlive(true));

        node.close();

        staysHeld(name, slot);
        assertThat(slot.isHeld()).isTrue();
    }

    @Test
    void aGrantStaysHeldWhenTheEndOfItsInstanceIsInterrupted() throws Exception {
        String name = other.semaphore(1);
        String work = other.semaphore(1);
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch goOn = new CountDownLatch(1);
        try (Node node = Node.on(schema, SETTINGS)) {
            PermitGrant grant = node.semaphores()
                    .acquire(AcquireRequest.of(name)
                            .withTtl(HOUR)
                            .withKeepAlive(true)
                            .withReleaseAtShutdown(false));
            Future<Boolean> working = Concurrently.async(() -> {
                node.semaphores().executeWithoutResult(AcquireRequest.of(work), held -> {
                    begun.countDown();
                    goOn.await();
                });
                return true;
            });
            begun.await();

            Thread.currentThread().interrupt();
            node.stop();
            assertThat(Thread.interrupted()).isTrue();
            goOn.countDown();

            assertThat(Concurrently.get(working)).isTrue();
            staysHeld(name, grant);
        }
    }

    @Test
    void theExpiryOfAGrantIsToldAfterARestart() {
        String name = other.semaphore(1);
        try (Node node = Node.on(schema, SETTINGS)) {
            PermitGrant grant = node.semaphores()
                    .acquire(AcquireRequest.of(name)
                            .withTtl(Duration.ofSeconds(3))
                            .withReleaseAtShutdown(false));
            node.stop();
            node.start();

            Awaitility.await("the report")
                    .atMost(Duration.ofSeconds(20))
                    .untilAsserted(
                            () -> assertThat(node.events().subjects("lost")).containsExactly(grant.externalId()));
            assertThat(grant.isHeld()).isFalse();
        }
    }

    /** The renewal is in progress when the instance stops, and ends when it has started again. */
    @Test
    void aRenewalThatIsSlowLeavesNoConnectionWithAStoppedInstance() {
        HikariDataSource pool = schema.newPool(6);
        try (pool;
                Node node =
                        new Node(pool, SETTINGS.with(SemaphoreSettings.KEEP_ALIVE_INTERVAL, Duration.ofSeconds(1)))) {
            String name = node.semaphore(1);
            PermitGrant grant = node.semaphores()
                    .acquire(AcquireRequest.of(name)
                            .withTtl(HOUR)
                            .withKeepAlive(true)
                            .withReleaseAtShutdown(false));
            Pause renewal = node.gate().pauseBefore("from permit_request where id in");
            renewal.awaitReached(Duration.ofSeconds(20));
            node.stop();
            node.start();
            renewal.open();
            grant.release();

            Awaitility.await("the return of all connections")
                    .atMost(Duration.ofSeconds(20))
                    .during(Duration.ofSeconds(1))
                    .until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
        }
    }

    /** Another caller tries to get its permits meanwhile. */
    private static void staysHeld(String name, PermitGrant grant) {
        Awaitility.await("the grant")
                .during(LONG)
                .atMost(LONG.plusSeconds(20))
                .failFast(() ->
                        other.semaphores().tryAcquire(AcquireRequest.of(name)).isPresent())
                .untilAsserted(() -> assertThat(SemaphoreRows.states(schema, grant.externalId()))
                        .containsExactly("ACQUIRED"));
    }
}
