package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import java.sql.SQLException;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Heartbeats that fail, hang or come too late, and what that means for what is kept alive. */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class HeartbeatIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final Duration INSTANCE_TIMEOUT = Duration.ofSeconds(3);
    private static final Duration DECISION_TIMEOUT = Duration.ofSeconds(5);
    private static final String HEARTBEAT = "update semaphore_instance";
    private static final String GRANT = "insert into permit_request";

    private static Schema schema;

    private final List<Node> nodes = new ArrayList<>();

    @BeforeAll
    static void migrate() {
        schema = TestDatabase.create().migrate();
    }

    @AfterAll
    static void drop() {
        schema.close();
    }

    @AfterEach
    void stop() {
        nodes.forEach(Node::close);
    }

    @Test
    void thatFailDoNotKeepGrantsFromBeingRenewed() {
        Node node = start();
        PermitGrant grant =
                keep(node, node.semaphore(1), INSTANCE_TIMEOUT.multipliedBy(3)); // due after the lease has expired
        failHeartbeats(node);
        Instant expiry = expiry(grant);

        Awaitility.await("a renewal")
                .atMost(INSTANCE_TIMEOUT.multipliedBy(3))
                .untilAsserted(() -> assertThat(expiry(grant)).isAfter(expiry));
    }

    @Test
    void thatHangOnTheThreadOfAnAcquireDoNotKeepGrantsFromBeingRenewed() throws Exception {
        Node node = start();
        PermitGrant grant = keep(node, node.semaphore(1), Duration.ofSeconds(9));
        String another = node.semaphore(1);
        Pause renewal = node.gate().pauseBefore("update permit_request");
        renewal.awaitReached(SOON); // meanwhile the keep-alive thread is blocked
        Pause heartbeat = node.gate().pauseBefore(HEARTBEAT);
        Future<?> acquiring = Concurrently.async("acquire", () -> {
            while (!heartbeat.isReached()) {
                keep(node, another, HOUR).release();
            }
            return null;
        });
        heartbeat.awaitReached(SOON);
        Instant expiry = expiry(grant);
        renewal.open();
        Awaitility.await("the renewal that was stopped")
                .atMost(SOON)
                .until(() -> expiry(grant).isAfter(expiry));
        Instant renewed = expiry(grant);

        Awaitility.await("the next")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(expiry(grant)).isAfter(renewed));

        heartbeat.open();
        acquiring.get(SOON.toSeconds(), TimeUnit.SECONDS);
    }

    /** What a listener waits for may itself need a heartbeat. */
    @Test
    void tellOfLossesWhenOthersMayGoOn() {
        CompletableFuture<PermitGrant> acquired = new CompletableFuture<>();
        CompletableFuture<Void> told = new CompletableFuture<>();
        CompletableFuture<Node> self = new CompletableFuture<>();
        SemaphoreListener acquiring = new SemaphoreListener() {
            @Override
            public void lost(Lost event) {
                Future<?> unused = Concurrently.async(
                        "acquire",
                        () -> acquired.complete(keep(self.join(), self.join().semaphore(1), HOUR)));
                try {
                    acquired.get(5, TimeUnit.SECONDS);
                    told.complete(null);
                } catch (InterruptedException | ExecutionException | TimeoutException failure) {
                    told.completeExceptionally(failure);
                }
            }
        };
        Node node = Node.on(schema, TestSettings.instanceTimeout(INSTANCE_TIMEOUT), acquiring);
        nodes.add(node);
        self.complete(node);
        PermitGrant grant = keep(node, node.semaphore(1), HOUR);
        failHeartbeats(node);
        Awaitility.await("the lapse").atMost(SOON).until(() -> !grant.isHeld());
        start().admin().forceRelease(grant.externalId(), "operator", "a drill");

        node.gate().close(); // heartbeats come through again

        assertThat(told).succeedsWithin(SOON);
        assertThat(acquired.join().isHeld()).isTrue();
        Awaitility.await("the next listener")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(node.events().subjects("lost")).containsExactly(grant.externalId()));
    }

    /** The heartbeat of another thread has renewed the lease after the grant was reclaimed. */
    @Test
    void thatLapseBetweenCommitAndRegistrationLoseTheGrantThatWasTaken() throws Exception {
        Node node = start();
        Node other = start();
        String name = node.semaphore(1);
        Pause committed = node.gate().pauseAfterCommitOf(GRANT);
        Future<PermitGrant> acquiring = Concurrently.async("acquire", () -> keep(node, name, HOUR));
        committed.awaitReached(SOON);
        PermitGrant next = other.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON));
        PermitGrant neighbour = keep(node, node.semaphore(1), HOUR);

        committed.open();

        PermitGrant grant = acquiring.get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(grant.isHeld()).isFalse();
        Awaitility.await("the next").atMost(SOON).until(next::isHeld);
        Awaitility.await("the neighbour").atMost(SOON).until(neighbour::isHeld);
        Awaitility.await("the loss")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(node.events().subjects("lost")).containsExactly(grant.externalId()));
    }

    @Test
    void thatAreLateBetweenCommitAndRegistrationKeepAGrantThatWasNotReclaimed() throws Exception {
        Node node = start();
        String name = node.semaphore(1);
        Pause committed = node.gate().pauseAfterCommitOf(GRANT);
        Future<PermitGrant> acquiring = Concurrently.async("acquire", () -> keep(node, name, HOUR));
        committed.awaitReached(SOON);
        awaitLapse();
        PermitGrant neighbour = keep(node, node.semaphore(1), HOUR);

        committed.open();

        PermitGrant grant = acquiring.get(SOON.toSeconds(), TimeUnit.SECONDS);
        Awaitility.await("the grant").atMost(SOON).until(grant::isHeld);
        Awaitility.await("the neighbour").atMost(SOON).until(neighbour::isHeld);
        assertThat(node.events().of("lost")).isEmpty();
    }

    @Test
    void thatLapseWhileAnAcquireWaitsAreMadeUpForBeforeItReturns() throws Exception {
        Node node = start();
        String name = node.semaphore(1);
        Pause granted = node.gate().pauseBeforeCommitOf(GRANT);
        Future<Boolean> acquiring =
                Concurrently.async("acquire", () -> keep(node, name, HOUR).isHeld());
        granted.awaitReached(SOON);
        awaitLapse();

        granted.open();

        assertThat(acquiring.get(SOON.toSeconds(), TimeUnit.SECONDS))
                .as("held when it is handed out")
                .isTrue();
    }

    /** It must not keep an acquire from returning what it holds. */
    @Test
    void thatCannotBeMadeUpForAreSentLater() throws Exception {
        Node node = start();
        String name = node.semaphore(1);
        Pause granted = node.gate().pauseBeforeCommitOf(GRANT);
        Future<PermitGrant> acquiring = Concurrently.async("acquire", () -> keep(node, name, HOUR));
        granted.awaitReached(SOON);
        awaitLapse();
        failHeartbeats(node);

        granted.open();

        PermitGrant grant = acquiring.get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(grant.isHeld()).isFalse();
        node.gate().close();
        Awaitility.await("the heartbeat").atMost(SOON).until(grant::isHeld);
    }

    /** The keep-alive waits for the answer to its heartbeat when the lease lapses. */
    @Test
    void thatHangDelayNoCallerForLongerThanADecisionMayTake() throws Exception {
        Node node = start(DECISION_TIMEOUT);
        keep(node, node.semaphore(1), HOUR);
        String another = node.semaphore(1);
        Pause heartbeat = node.gate().pauseBefore(HEARTBEAT);
        heartbeat.awaitReached(SOON);
        Pause granted = node.gate().pauseBeforeCommitOf(GRANT);
        Future<PermitGrant> acquiring = Concurrently.async("acquire", () -> keep(node, another, HOUR));
        granted.awaitReached(SOON);
        TimeUnit.NANOSECONDS.sleep(INSTANCE_TIMEOUT.toNanos());
        granted.open();

        PermitGrant grant = acquiring.get(DECISION_TIMEOUT.plusSeconds(5).toSeconds(), TimeUnit.SECONDS);

        assertThat(grant.isHeld())
                .as("held before a heartbeat has confirmed it")
                .isFalse();
        heartbeat.open();
        Awaitility.await("the confirmation").atMost(SOON).until(grant::isHeld);
    }

    /** Its callers do not give up while a test stops them. */
    private Node start() {
        return start(SOON);
    }

    private Node start(Duration decisionTimeout) {
        Node node = Node.on(
                schema,
                TestSettings.instanceTimeout(INSTANCE_TIMEOUT)
                        .with(SemaphoreSettings.DECISION_TIMEOUT, decisionTimeout));
        nodes.add(node);
        return node;
    }

    private static PermitGrant keep(Node node, String name, Duration ttl) {
        return node.semaphores().acquire(AcquireRequest.of(name).withTtl(ttl).withKeepAlive(true));
    }

    private static void failHeartbeats(Node node) {
        for (int each = 0; each < 500; each++) {
            node.gate().failBefore(HEARTBEAT, new SQLException("on purpose", "HY000"));
        }
    }

    /** Until every instance is suspect. */
    private static void awaitLapse() {
        Awaitility.await("the lapse")
                .pollDelay(INSTANCE_TIMEOUT)
                .atMost(SOON)
                .untilAsserted(() -> assertThat(
                                schema.jdbc().queryForObject("select count(*) from semaphore_instance", Long.class))
                        .isNotZero());
    }

    private static Instant expiry(PermitGrant grant) {
        return schema.jdbc()
                .queryForObject(
                        "select expires_at from permit_request where external_id = ?",
                        java.sql.Timestamp.class,
                        grant.externalId())
                .toInstant();
    }
}
