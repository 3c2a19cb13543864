package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** An instance that pauses for longer than its lease, and resumes. */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FrozenInstanceIntegrationTests {

    private static final Duration START = Duration.ofSeconds(60);
    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration SHORT_TIMEOUT = Duration.ofSeconds(3);

    private static Schema schema;

    private Node node;

    @BeforeAll
    static void migrate() {
        schema = TestDatabase.createForProcesses().migrate();
    }

    @AfterAll
    static void drop() {
        schema.close();
    }

    @BeforeEach
    void start() {
        node = Node.on(schema, TestSettings.instanceTimeout(SHORT_TIMEOUT));
    }

    @AfterEach
    void stop() {
        node.close();
    }

    /** By its TTL, while its heartbeat would have kept it; by its heartbeat, while its TTL would have. */
    @ParameterizedTest
    @CsvSource({"3, 60", "21600, 3"})
    void learnsThatItHasLostItsPermits(int ttlSeconds, int instanceTimeoutSeconds) {
        assumeTrue(Files.isDirectory(Path.of("/proc/self/task")), "only on Linux");
        String name = node.semaphore(1);
        String id = "frozen-" + name;
        try (ChildJvm process =
                ChildJvm.start(OperationsProcess.class, schema.handOver(), String.valueOf(instanceTimeoutSeconds))) {
            process.awaitLine("READY", START);
            process.send("work %s %s %d".formatted(id, name, ttlSeconds));
            process.awaitLine("GRANTED " + id, START);

            process.stop();
            PermitGrant grant =
                    node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON));
            process.cont();

            process.awaitLine("LOST " + id, SOON);
            process.send("check " + id);
            assertThat(process.awaitLine("CHECK", SOON))
                    .isEqualTo("CHECK " + id + " false PermitLostException PermitLostException ALREADY_RELEASED");
            assertThat(process.output())
                    .filteredOn(line -> line.startsWith("LOST"))
                    .hasSize(1);
            assertUntouched(grant, name);
        }
    }

    /** A heartbeat during the reclaim of the permits: the loser of this race must not report that it holds them. */
    @Test
    void learnsOfALossThatIsNotYetCommitted() throws Exception {
        String name = node.semaphore(1);
        try (Node frozen = Node.on(schema, TestSettings.instanceTimeout(SHORT_TIMEOUT))) {
            PermitGrant lost = frozen.semaphores()
                    .acquire(
                            AcquireRequest.of(name).withTtl(Duration.ofHours(6)).withKeepAlive(true));
            Pause heartbeat = frozen.gate().pauseBefore("update semaphore_instance");
            heartbeat.awaitReached(SOON);
            Pause commit = node.gate().pauseBeforeCommitOf("insert into permit_request");
            Future<PermitGrant> taking = Concurrently.async(
                    "taking",
                    () -> node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON)));
            commit.awaitReached(SOON);
            assertThat(lost.isHeld())
                    .as("the frozen instance, after its lease has expired")
                    .isFalse();

            frozen.gate().clear();
            heartbeat.open();
            Awaitility.await("the frozen one to look after what it held")
                    .atMost(SOON)
                    .until(() -> frozen.gate().count("from permit_request") > 0
                            || frozen.gate().count("update permit_request") > 0);
            Awaitility.await("the frozen one to be in doubt")
                    .during(Duration.ofMillis(700))
                    .atMost(SOON)
                    .untilAsserted(() -> assertThat(lost.isHeld())
                            .as("held while it is being taken")
                            .isFalse());
            commit.open();
            PermitGrant grant = taking.get(SOON.toSeconds(), TimeUnit.SECONDS);

            Awaitility.await("the frozen one to learn of it")
                    .atMost(Duration.ofSeconds(8))
                    .untilAsserted(
                            () -> assertThat(frozen.events().subjects("lost")).containsExactly(lost.externalId()));
            assertThat(lost.isHeld()).isFalse();
            assertUntouched(grant, name);
        }
    }

    /** Its work has ended before the next heartbeat. */
    @Test
    void learnsByItsReleaseThatItHasLostItsPermits() throws Exception {
        String name = node.semaphore(1);
        try (Node frozen = Node.on(schema, TestSettings.instanceTimeout(SHORT_TIMEOUT))) {
            PermitGrant lost = frozen.semaphores()
                    .acquire(
                            AcquireRequest.of(name).withTtl(Duration.ofHours(6)).withKeepAlive(true));
            Pause heartbeat = frozen.gate().pauseBefore("update semaphore_instance");
            heartbeat.awaitReached(SOON);
            PermitGrant grant =
                    node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON));

            assertThat(lost.release()).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);

            assertThat(frozen.events().subjects("lost")).containsExactly(lost.externalId());
            assertUntouched(grant, name);
        }
    }

    private void assertUntouched(PermitGrant grant, String name) {
        Awaitility.await("the other grant").atMost(SOON).until(grant::isHeld);
        assertThat(SemaphoreRows.states(schema, grant.externalId())).containsExactly("ACQUIRED");
        assertThat(SemaphoreRows.held(schema, name)).isEqualTo(1);
        assertThat(grant.renew(Duration.ofMinutes(1)).isHeld()).isTrue();
    }
}
