package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that is killed (SIGKILL) with permits whose TTL is hours: they are reclaimed because its heartbeat is missing. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KilledInstanceIntegrationTests {

    private static final Duration START = Duration.ofSeconds(60);
    private static final Duration INSTANCE_TIMEOUT = Duration.ofSeconds(6);
    private static final Duration MARGIN = Duration.ofSeconds(5);
    private static final String SIX_HOURS = "21600";

    private static Schema schema;

    private Node node;
    private ChildJvm process;

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
        node = Node.on(schema, TestSettings.instanceTimeout(INSTANCE_TIMEOUT));
        startProcess();
    }

    private void startProcess() {
        process = ChildJvm.start(
                OperationsProcess.class, schema.handOver(), String.valueOf(INSTANCE_TIMEOUT.toSeconds()));
        process.awaitLine("READY", START);
    }

    @AfterEach
    void stop() {
        process.close();
        node.close();
    }

    @Measured
    @Test
    void losesItsGrantsToWaitingCallers() {
        if (!process.isAlive()) { // killed by the measurement before
            process.close();
            startProcess();
        }
        String kept = node.semaphore(1);
        String unkept = node.semaphore(1);
        String forever = node.semaphore(1);
        hold("work", "kept-" + kept, kept, SIX_HOURS);
        hold("work-unkept", "unkept-" + unkept, unkept, SIX_HOURS);
        hold("work-forever", "forever-" + forever, forever, "");
        AcquireRequest request = AcquireRequest.of(kept).withWaitTime(Duration.ofSeconds(30));

        process.kill9();
        long killed = System.nanoTime();
        PermitGrant grant = node.semaphores().acquire(request);
        Duration delay = Duration.ofNanos(System.nanoTime() - killed);

        assertThat(grant.isHeld()).isTrue();
        assertThat(SemaphoreRows.states(schema, "kept-" + kept)).containsExactly("RELEASED");
        assertThat(SemaphoreRows.held(schema, kept)).isEqualTo(1);
        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(unkept))).isEmpty();
        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(forever))).isEmpty();
        assertThat(node.maintenance().releaseOrphans()).isZero();
        assertThat(SemaphoreRows.states(schema, "unkept-" + unkept)).containsExactly("ACQUIRED");
        assertThat(SemaphoreRows.states(schema, "forever-" + forever)).containsExactly("ACQUIRED");
        Measurement.check(() -> assertThat(delay)
                .as("until permits of a killed process with a TTL of 6 h were taken")
                .isLessThan(INSTANCE_TIMEOUT.plus(MARGIN)));
    }

    @Slow
    @Test
    void losesWhatItKeptAliveToTheReleaseOfOrphans() {
        String kept = node.semaphore(1);
        hold("work", "kept-to-be-swept", kept, SIX_HOURS);
        assertThat(node.maintenance().releaseOrphans()).isZero();

        process.kill9();

        Awaitility.await("the release of orphans")
                .atMost(INSTANCE_TIMEOUT.plus(MARGIN))
                .pollInterval(Duration.ofMillis(300))
                .until(() -> node.maintenance().releaseOrphans() == 1);
        assertThat(SemaphoreRows.states(schema, "kept-to-be-swept")).containsExactly("RELEASED");
        assertThat(node.events().subjects("expired")).containsExactly("kept-to-be-swept");
        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(kept))).isPresent();
    }

    private void hold(String how, String externalId, String name, String ttl) {
        process.send("%s %s %s %s".formatted(how, externalId, name, ttl).strip());
        process.awaitLine("GRANTED " + externalId, START);
    }
}
