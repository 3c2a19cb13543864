package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** As many dependent actions of asynchronous acquires block as may run at a time: further futures are completed when one of them ends. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BlockedActionsIntegrationTests {

    private static final int AT_A_TIME = 64;
    private static final Duration SOON = Duration.ofSeconds(20);

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final Node node = cluster.node(0);
    private final String name = node.semaphore(1);
    private final CountDownLatch atWork = new CountDownLatch(AT_A_TIME);
    private final CountDownLatch end = new CountDownLatch(1);
    private List<CompletableFuture<Void>> actions;

    @BeforeEach
    void block() throws InterruptedException {
        AcquireRequest ofAction = AcquireRequest.of(node.semaphore(AT_A_TIME)).withWaitTime(SOON);
        PermitGrant all =
                node.semaphores().acquire(ofAction.exclusive()); // an action would run here if its future were complete
        actions = IntStream.range(0, AT_A_TIME)
                .mapToObj(i -> node.semaphores().acquireAsync(ofAction).thenAccept(this::work))
                .toList();
        all.release();
        assertThat(atWork.await(20, TimeUnit.SECONDS)).as("all at work").isTrue();
    }

    @AfterEach
    void end() {
        end.countDown();
        actions.forEach(CompletableFuture::join);
    }

    private void work(PermitGrant grant) {
        atWork.countDown();
        try (grant) {
            boolean unused = end.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void aGrantIsKeptAliveUntilItIsDelivered() throws Exception {
        CompletableFuture<PermitGrant> acquire = node.semaphores()
                .acquireAsync(
                        AcquireRequest.of(name).withTtl(Duration.ofSeconds(2)).withKeepAlive(true));
        Awaitility.await("the grant").atMost(SOON).until(() -> held() == 1);
        Instant first = expiry();

        Awaitility.await("a renewal").atMost(SOON).until(() -> expiry().isAfter(first));

        assertThat(acquire).isNotDone();
        end.countDown();
        PermitGrant grant = acquire.get(20, TimeUnit.SECONDS);
        assertThat(grant.isHeld()).isTrue();
        grant.close();
    }

    @Test
    void aCallerThatLeavesBeforeTheDeliveryHoldsNothing() {
        CompletableFuture<PermitGrant> acquire = node.semaphores().acquireAsync(AcquireRequest.of(name));
        Awaitility.await("the grant").atMost(SOON).until(() -> held() == 1);

        assertThat(acquire.cancel(true)).isTrue();

        Awaitility.await("the release").atMost(SOON).until(() -> held() == 0);
    }

    /** It is released although its renewals look like a repetition by another JVM. */
    @Test
    void aCallerThatLeavesAKeptAliveGrantWithAnExternalIdHoldsNothing() {
        CompletableFuture<PermitGrant> acquire = node.semaphores()
                .acquireAsync(AcquireRequest.of(name)
                        .withExternalId(cluster.externalId())
                        .withTtl(Duration.ofSeconds(30))
                        .withKeepAlive(true));
        Awaitility.await("the grant").atMost(SOON).until(() -> held() == 1);
        Instant first = expiry();
        Awaitility.await("a renewal").atMost(SOON).until(() -> expiry().isAfter(first));

        assertThat(acquire.cancel(true)).isTrue();

        Awaitility.await("the release").atMost(Duration.ofSeconds(10)).until(() -> held() == 0);
    }

    private long held() {
        return node.admin().find(name).orElseThrow().held();
    }

    private Instant expiry() {
        return node.admin().holders(name).get(0).expiresAt().orElseThrow();
    }
}
