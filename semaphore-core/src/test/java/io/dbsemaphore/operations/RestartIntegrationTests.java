package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A stopped engine can be started again: paused test contexts, {@code Lifecycle} operations, CRaC checkpoints. */
@Slow
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RestartIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration HOUR = Duration.ofHours(1);

    private final Set<Thread> threadsOfOthers = Thread.getAllStackTraces().keySet();
    private Schema schema;
    private HikariDataSource pool;
    private Node node;

    @BeforeEach
    void begin() {
        schema = TestDatabase.create().migrate();
        pool = schema.newPool(6);
        node = new Node(pool, TestSettings.defaults());
        node.start();
    }

    @AfterEach
    void end() {
        node.close();
        schema.close();
    }

    /** An application that does not use the library must not notice it. */
    @Test
    void hasFewThreadsAllFromItsStart() {
        Awaitility.await("the end of what was needed for the start")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(threads()).hasSizeLessThanOrEqualTo(6));

        assertThat(threads()).contains("semaphore-keep-alive", "semaphore-scheduler", "semaphore-application-1");
    }

    @Test
    void acquiresAgainAfterEachStart() {
        String name = node.semaphore(1);
        for (int i = 0; i < 3; i++) {
            node.semaphores()
                    .executeWithoutResult(
                            AcquireRequest.of(name),
                            grant -> assertThat(grant.isHeld()).isTrue());
            node.stop();
            node.start();
        }

        assertThat(SemaphoreRows.held(schema, name)).isZero();
        node.semaphores()
                .executeWithoutResult(
                        AcquireRequest.of(name),
                        grant -> assertThat(SemaphoreRows.held(schema, name)).isEqualTo(1));
    }

    @Test
    void saysThatItIsStopped() {
        String name = node.semaphore(1);

        node.stop();

        assertThatExceptionOfType(SemaphoreClosedException.class)
                .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(name)))
                .withMessageContaining("stopped")
                .withMessageContaining("Try again when they are started")
                .withMessageContaining("Nothing was acquired");
    }

    @Test
    void isClosedForGood() {
        String name = node.semaphore(1);

        node.closeEngine();

        assertThatExceptionOfType(IllegalStateException.class).isThrownBy(node::start);
        assertThatExceptionOfType(SemaphoreClosedException.class)
                .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(name)))
                .withMessageContaining("shutting down");
        assertThatExceptionOfType(SemaphoreClosedException.class)
                .isThrownBy(() -> node.maintenance().releaseOrphans());
    }

    @Test
    void registersAnotherInstanceWithEachStart() {
        String name = node.semaphore(2);

        long first = instanceOf(name);
        node.stop();
        assertThat(instances()).as("deregistered").isEmpty();
        node.start();
        long second = instanceOf(name);

        assertThat(second).isNotEqualTo(first);
        assertThat(instances()).containsExactly(second);
    }

    @Test
    void keepsAliveAfterAStart() {
        String name = node.semaphore(1);
        node.stop();
        node.start();

        PermitGrant kept = node.semaphores()
                .acquire(AcquireRequest.of(name).withTtl(Duration.ofSeconds(6)).withKeepAlive(true));

        Awaitility.await("a renewal")
                .atMost(SOON)
                .until(() -> kept.acquiredAt().plusSeconds(7).isBefore(expiryOf(kept)));
        assertThat(kept.isHeld()).isTrue();
        kept.close();
    }

    @Test
    void ownsNeitherConnectionNorThreadUntilItIsStartedAgain() throws Exception {
        String name = node.semaphore(1);
        PermitGrant registration =
                node.semaphores().acquire(AcquireRequest.of(name).withoutTtl());
        Future<PermitGrant> waiting = Concurrently.async(
                "waiting",
                () -> node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(30))));
        Awaitility.await("the first refusal").atMost(SOON).until(() -> isAwaited(name));
        AtomicBoolean done = new AtomicBoolean();
        Future<List<String>> others = Concurrently.async("others", () -> tryUntil(done, name));

        node.stop();

        assertThat(pool.getHikariPoolMXBean().getActiveConnections())
                .as("connections in use once it is stopped")
                .isZero();
        Awaitility.await("no thread")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(threads()).isEmpty());
        node.gate().clear();
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> waiting.get(10, TimeUnit.SECONDS))
                .withCauseInstanceOf(SemaphoreClosedException.class);
        Awaitility.await("attempts while it is stopped")
                .pollDelay(Duration.ofMillis(200))
                .until(() -> true);
        assertThat(node.gate().statements())
                .as("statements while it is stopped")
                .isEmpty();
        assertThat(threads()).isEmpty();

        node.start();
        done.set(true);

        assertThat(others.get(10, TimeUnit.SECONDS))
                .allSatisfy(told -> assertThat(told).containsAnyOf("stopped", "shutting down"))
                .hasSizeGreaterThan(10);
        assertThat(registration.isHeld()).as("outlives a stop").isTrue();
        assertThat(registration.release()).isEqualTo(ReleaseOutcome.RELEASED);
        node.semaphores().acquire(AcquireRequest.of(name)).close();
    }

    /** What outlives a stop may be released before the next start, by a thread that ends again. */
    @Test
    void releasesWhileItIsStopped() throws Exception {
        String name = node.semaphore(2);
        List<PermitGrant> outliving = List.of(
                node.semaphores().acquire(AcquireRequest.of(name).withoutTtl()),
                node.semaphores().acquire(AcquireRequest.of(name).withTtl(HOUR).withReleaseAtShutdown(false)));
        node.stop();
        Awaitility.await("no thread")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(threads()).isEmpty());

        for (PermitGrant grant : outliving) {
            assertThat(Concurrently.async("release", grant::release).get(10, TimeUnit.SECONDS))
                    .isEqualTo(ReleaseOutcome.RELEASED);
        }

        assertThat(SemaphoreRows.held(schema, name)).isZero();
        Awaitility.await("no thread")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(threads()).isEmpty());
        node.start();
        node.semaphores().acquire(AcquireRequest.of(name, 2)).close();
    }

    /** A release by a handle from before the stop wakes a caller that waits after it. */
    @Test
    void handlesOfBeforeBelongToWhatWasStartedSince() throws Exception {
        String name = node.semaphore(1);
        PermitGrant before = node.semaphores().acquire(AcquireRequest.of(name).withoutTtl());
        node.stop();
        node.start();
        Future<PermitGrant> waiting = Concurrently.async(
                "waiting",
                () -> node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(30))));
        Awaitility.await("the first refusal").atMost(SOON).until(() -> isAwaited(name));

        assertThat(node.semaphores().release(before.externalId())).isEqualTo(ReleaseOutcome.RELEASED);

        PermitGrant after = waiting.get(10, TimeUnit.SECONDS);
        assertThat(before.isHeld()).as("released by its id").isFalse();
        assertThat(after.renew(HOUR).isHeld()).isTrue();
        after.close();
    }

    /** Whether the database has refused a caller, which then waits. */
    private boolean isAwaited(String name) {
        return node.admin().find(name).filter(status -> status.waiting() == 1).isPresent();
    }

    private List<String> tryUntil(AtomicBoolean done, String name) {
        List<String> told = new ArrayList<>();
        while (!done.get()) {
            try {
                node.semaphores().tryAcquire(AcquireRequest.of(name));
            } catch (SemaphoreClosedException stopped) {
                told.add(String.valueOf(stopped.getMessage()));
            }
            Thread.onSpinWait();
        }
        return told;
    }

    private long instanceOf(String name) {
        try (PermitGrant unused =
                node.semaphores().acquire(AcquireRequest.of(name).withTtl(HOUR).withKeepAlive(true))) {
            List<Long> instances = instances();
            assertThat(instances).hasSize(1);
            return instances.get(0);
        }
    }

    private List<Long> instances() {
        return schema.jdbc().queryForList("select id from semaphore_instance", Long.class);
    }

    private Instant expiryOf(PermitGrant grant) {
        return node.semaphores()
                .find(grant.externalId())
                .orElseThrow()
                .expiresAt()
                .orElseThrow();
    }

    private List<String> threads() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !threadsOfOthers.contains(thread))
                .map(Thread::getName)
                .filter(name -> name.startsWith("semaphore-"))
                .toList();
    }
}
