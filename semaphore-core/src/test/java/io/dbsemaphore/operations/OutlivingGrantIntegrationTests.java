package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
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
