package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.LoggedWarnings;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Whatever dependent actions of asynchronous acquires, and listeners, do: others are answered, and a grant is kept alive. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.POSTGRESQL})
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class BlockedActionsIntegrationTests {

    /** More than run at a time unless they block. */
    private static final int ACTIONS = 100;

    private static final Duration SOON = Duration.ofSeconds(20);

    private static Schema schema;

    private final String name = SemaphoreRows.name("s");
    private final CountDownLatch end = new CountDownLatch(1);
    private final Node node = Node.on(schema, TestSettings.defaults(), new SemaphoreListener() {
        @Override
        public void acquired(Acquired event) {
            if (event.grant().permits().containsKey(name)) {
                awaitEnd();
            }
        }
    });

    @BeforeAll
    static void migrate() {
        schema = TestDatabase.create().migrate();
    }

    @AfterAll
    static void drop() {
        schema.close();
    }

    @AfterEach
    void close() {
        end.countDown();
        node.close();
    }

    private void awaitEnd() {
        try {
            boolean unused = end.await(60, TimeUnit.SECONDS);
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    @Test
    void ofSomeCallersLeaveTheAnswersOfOthersInTimeAndAreNamed() {
        String free = node.semaphore(1);
        String full = node.semaphore(1);
        PermitGrant held = node.semaphores().acquire(AcquireRequest.of(full));

        List<String> warnings = LoggedWarnings.of("io.dbsemaphore.concurrent", () -> {
            List<CompletableFuture<Void>> actions = blockAll();

            assertThat(node.semaphores().acquireAsync(AcquireRequest.of(free)))
                    .succeedsWithin(SOON)
                    .satisfies(PermitGrant::close);
            assertThat(node.semaphores().acquireAsync(AcquireRequest.of(full)))
                    .failsWithin(SOON)
                    .withThrowableThat()
                    .withCauseInstanceOf(PermitsUnavailableException.class);

            end.countDown();
            actions.forEach(CompletableFuture::join);
        });

        assertThat(warnings)
                .filteredOn(
                        warning -> warning.contains("dependent actions of asynchronous acquires block their threads"))
                .singleElement()
                .asString()
                .contains("thenAcceptAsync");
        held.release();
    }

    /** Actions that begin at once, since they wait for the same permits. */
    private List<CompletableFuture<Void>> blockAll() {
        AcquireRequest ofAction = AcquireRequest.of(node.semaphore(ACTIONS)).withWaitTime(SOON);
        CountDownLatch atWork = new CountDownLatch(ACTIONS);
        PermitGrant all = node.semaphores().acquire(ofAction.exclusive());
        List<CompletableFuture<Void>> actions = IntStream.range(0, ACTIONS)
                .mapToObj(i -> node.semaphores().acquireAsync(ofAction).thenAccept(grant -> {
                    atWork.countDown();
                    try (grant) {
                        awaitEnd();
                    }
                }))
                .toList();
        all.release();
        Awaitility.await("all at work").atMost(SOON).until(() -> atWork.getCount() == 0);
        return actions;
    }

    /** All permits would stay held, and nobody would be answered. */
    @Test
    void thatWaitForOtherAcquiresEnd() {
        int callers = 2 * ACTIONS;
        AcquireRequest outer = AcquireRequest.of(node.semaphore(callers)).withWaitTime(SOON);
        AcquireRequest inner = AcquireRequest.of(node.semaphore(10)).withWaitTime(SOON);
        PermitGrant all = node.semaphores().acquire(outer.exclusive());
        List<CompletableFuture<Void>> actions = IntStream.range(0, callers)
                .mapToObj(i -> node.semaphores().acquireAsync(outer).thenAccept(grant -> {
                    try (grant) {
                        node.semaphores()
                                .acquireAsync(inner)
                                .thenAccept(PermitGrant::close)
                                .join();
                    }
                }))
                .toList();

        all.release();

        assertThat(CompletableFuture.allOf(actions.toArray(CompletableFuture[]::new)))
                .succeedsWithin(SOON);
    }

    @Test
    void aGrantIsKeptAliveUntilItIsDelivered() {
        CompletableFuture<PermitGrant> acquire =
                acquire(request().withTtl(Duration.ofSeconds(6)).withKeepAlive(true));
        Instant first = expiry();

        Awaitility.await("a renewal").atMost(SOON).until(() -> expiry().isAfter(first));

        assertThat(acquire).isNotDone();
        end.countDown();
        assertThat(acquire).succeedsWithin(SOON).satisfies(grant -> {
            assertThat(grant.isHeld()).isTrue();
            grant.close();
        });
    }

    @Test
    void aCallerThatLeavesBeforeTheDeliveryHoldsNothing() {
        CompletableFuture<PermitGrant> acquire = acquire(request());

        assertThat(acquire.cancel(true)).isTrue();
        end.countDown();

        Awaitility.await("the release").atMost(SOON).until(() -> held() == 0);
    }

    /** It is released although its renewals look like a repetition by another JVM. */
    @Test
    void aCallerThatLeavesAKeptAliveGrantWithAnExternalIdHoldsNothing() {
        CompletableFuture<PermitGrant> acquire = acquire(request()
                .withExternalId(UUID.randomUUID().toString())
                .withTtl(Duration.ofSeconds(30))
                .withKeepAlive(true));
        Instant first = expiry();
        Awaitility.await("a renewal").atMost(SOON).until(() -> expiry().isAfter(first));

        assertThat(acquire.cancel(true)).isTrue();
        end.countDown();

        Awaitility.await("the release").atMost(Duration.ofSeconds(10)).until(() -> held() == 0);
    }

    private AcquireRequest request() {
        node.admin().create(name, 1);
        return AcquireRequest.of(name);
    }

    /** An acquire that is granted, and not delivered before the end. */
    private CompletableFuture<PermitGrant> acquire(AcquireRequest request) {
        CompletableFuture<PermitGrant> acquire = node.semaphores().acquireAsync(request);
        Awaitility.await("the grant").atMost(SOON).until(() -> held() == 1);
        return acquire;
    }

    private long held() {
        return node.admin().find(name).orElseThrow().held();
    }

    private Instant expiry() {
        return node.admin().holders(name).get(0).expiresAt().orElseThrow();
    }
}
