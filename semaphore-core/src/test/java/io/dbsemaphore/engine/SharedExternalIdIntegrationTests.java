package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.Consumer;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Two callers with one external id, of which one gives up. */
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class SharedExternalIdIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final SemaphoreSettings BRIEF = TestSettings.instanceTimeout(Duration.ofSeconds(3));

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private final String name = cluster.semaphore(1);
    private final AcquireRequest request =
            AcquireRequest.of(name).withExternalId(cluster.externalId()).withTtl(Duration.ofMinutes(5));
    private final CountDownLatch granted = new CountDownLatch(1);
    private final CountDownLatch goOn = new CountDownLatch(1);
    private final SemaphoreListener slow = new SemaphoreListener() {
        @Override
        public void acquired(Acquired event) {
            granted.countDown();
            await(goOn);
        }
    };

    @AfterEach
    void open() {
        cluster.node(0).gate().close();
        cluster.node(1).gate().close();
    }

    /** A second caller of the id is cancelled while the replay is written for it: the first one is at work. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aCancelledRepetitionLeavesTheGrantToItsHolder(int repeatingNode) throws Exception {
        PermitGrant holder = cluster.node(0).semaphores().acquire(request);
        Node repeating = cluster.node(repeatingNode);
        Pause replaying = repeating.gate().pauseBeforeCommitOf("update permit_request");
        CompletableFuture<PermitGrant> repeated = repeating.semaphores().acquireAsync(request);
        replaying.awaitReached(SOON);

        assertThat(repeated.cancel(true)).isTrue();
        replaying.open();

        staysHeld(holder);
    }

    /** The instance of the caller that has left does not keep the grant alive. */
    @Test
    void aCancelledRepetitionThatWasToBeKeptAliveLeavesTheGrantToItsHolder() throws Exception {
        PermitGrant holder = cluster.node(0).semaphores().acquire(request.withKeepAlive(true));
        try (Node repeating = Node.on(cluster.schema(), BRIEF)) {
            Pause replaying = repeating.gate().pauseBeforeCommitOf("update permit_request");
            CompletableFuture<PermitGrant> repeated = repeating.semaphores().acquireAsync(request.withKeepAlive(true));
            replaying.awaitReached(SOON);

            assertThat(repeated.cancel(true)).isTrue();
            replaying.open();

            staysHeldBeside(repeating, holder);
        }
    }

    /** In one instance, which sends no heartbeats for a grant that it does not keep alive. */
    @ParameterizedTest(name = "is registered before: {0}")
    @ValueSource(booleans = {false, true})
    void aCancelledRepetitionThatWasToBeKeptAliveLeavesTheGrantItsTimeToLive(boolean registered) throws Exception {
        SemaphoreListener slowForTheSecond = new SemaphoreListener() {
            private final AtomicInteger acquired = new AtomicInteger();

            @Override
            public void acquired(Acquired event) {
                if (registered && acquired.incrementAndGet() == 2) {
                    granted.countDown();
                    await(goOn);
                }
            }
        };
        try (Node node = Node.on(cluster.schema(), BRIEF, slowForTheSecond)) {
            PermitGrant holder = node.semaphores().acquire(request);
            Pause replaying = registered ? null : node.gate().pauseBeforeCommitOf("update permit_request");
            CompletableFuture<PermitGrant> repeated = node.semaphores().acquireAsync(request.withKeepAlive(true));
            if (replaying == null) {
                await(granted);
            } else {
                replaying.awaitReached(SOON);
            }

            assertThat(repeated.cancel(true)).isTrue();
            goOn.countDown();
            if (replaying != null) {
                replaying.open();
            }

            assertThat(cluster.node(1)
                            .semaphores()
                            .tryAcquire(AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(10))))
                    .isEmpty();
            assertThat(holder.isHeld()).isTrue();
        }
    }

    /** Another caller tries to get its permits meanwhile. */
    private void staysHeldBeside(Node impatient, PermitGrant holder) {
        Awaitility.await("the grant of the holder")
                .during(Duration.ofSeconds(5))
                .atMost(SOON)
                .failFast(() -> impatient
                        .semaphores()
                        .tryAcquire(AcquireRequest.of(name))
                        .isPresent())
                .until(holder::isHeld);
    }

    @Test
    void aRepetitionThatTimedOutLeavesTheGrantToItsHolder() throws Exception {
        PermitGrant holder = cluster.node(0).semaphores().acquire(request.withKeepAlive(true));
        Node repeating = cluster.node(1);
        Pause replaying = repeating.gate().pauseBeforeCommitOf("update permit_request");
        CompletableFuture<PermitGrant> repeated = repeating.semaphores().acquireAsync(request);
        replaying.awaitReached(SOON);
        Awaitility.await().atMost(SOON).until(repeated.orTimeout(300, TimeUnit.MILLISECONDS)::isCompletedExceptionally);

        replaying.open();

        staysHeld(holder);
    }

    @Test
    void aWithdrawnRepetitionLeavesTheGrantToItsHolder() throws Exception {
        PermitGrant holder = cluster.node(0).semaphores().acquire(request);
        Node repeating = cluster.node(1);
        Pause reading = repeating.gate().pauseBefore("from permit_request");
        CompletableFuture<PermitGrant> repeated = repeating.semaphores().acquireAsync(request);
        reading.awaitReached(SOON);

        assertThat(repeated.cancel(true)).isTrue();
        reading.open();

        staysHeld(holder);
    }

    /** The first caller gives up after its grant was made; a second one has got the grant by then, and works. */
    @Test
    void aCancelledAcquireLeavesItsGrantToWhoHasRepeatedIt() throws Exception {
        try (Node first = Node.on(cluster.schema(), TestSettings.defaults(), slow)) {
            CompletableFuture<PermitGrant> cancelled = first.semaphores().acquireAsync(request);
            await(granted);
            PermitGrant repeated = cluster.node(1).semaphores().acquire(request);
            assertThat(repeated.isReplayed()).isTrue();

            assertThat(cancelled.cancel(true)).isTrue();
            goOn.countDown();

            staysHeld(repeated);
        }
    }

    /** The repetition got the grant while the release was under way. From then on, others may have the permits. */
    @Test
    void aReleaseEndsTheHandleOfARepetitionThatCameBeforeIt() throws Exception {
        Node node = cluster.node(0);
        PermitGrant first = node.semaphores().acquire(request);
        Pause releasing = node.gate().pauseBefore("set state = 'RELEASED'");
        Future<ReleaseOutcome> release = Concurrently.async(first::release);
        releasing.awaitReached(SOON);
        PermitGrant repeated = node.semaphores().acquire(request);
        assertThat(repeated.isHeld()).isTrue();

        releasing.open();

        assertThat(Concurrently.get(release)).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(repeated.isHeld()).as("after the release").isFalse();
    }

    @Test
    void aReleaseInTheBackgroundEndsTheHandleOfARepetitionThatCameBeforeIt() {
        Node node = cluster.node(0);
        PermitGrant first = node.semaphores().acquire(request);
        node.gate().failBefore("set state = 'RELEASED'", new SQLException("UPDATE denied", "42000"));
        Pause releasing = node.gate().pauseBefore("set state = 'RELEASED'");
        assertThat(first.release()).isEqualTo(ReleaseOutcome.DEFERRED);
        releasing.awaitReached(SOON);
        PermitGrant repeated = node.semaphores().acquire(request);
        assertThat(repeated.isHeld()).isTrue();

        releasing.open();

        Awaitility.await("the release")
                .atMost(SOON)
                .until(() -> SemaphoreRows.states(cluster.schema(), first.externalId())
                        .equals(List.of("RELEASED")));
        Awaitility.await("the end of the handle").atMost(SOON).until(() -> !repeated.isHeld());
    }

    @Test
    void aGrantThatAllCallersHaveLeftIsHeldUntilItsTimeToLiveHasPassed() throws Exception {
        CountDownLatch both = new CountDownLatch(2);
        SemaphoreListener slowForBoth = new SemaphoreListener() {
            @Override
            public void acquired(Acquired event) {
                both.countDown();
                await(goOn);
            }
        };
        try (Node node = Node.on(cluster.schema(), TestSettings.defaults(), slowForBoth)) {
            AcquireRequest kept = request.withTtl(Duration.ofSeconds(2)).withKeepAlive(true);
            List<CompletableFuture<PermitGrant>> callers = List.of(
                    node.semaphores().acquireAsync(kept), node.semaphores().acquireAsync(kept));
            await(both);
            callers.forEach(each -> each.cancel(true));
            goOn.countDown();

            assertThat(cluster.node(0)
                            .semaphores()
                            .tryAcquire(AcquireRequest.of(name).withWaitTime(SOON)))
                    .isPresent();
        }
    }

    /** The grant of the holder has a time to live; that of the repetition was to be kept alive. */
    @Test
    void aCancelledRepetitionDoesNotKeepTheGrantAlive() throws Exception {
        AcquireRequest brief = request.withTtl(Duration.ofSeconds(2));
        afterACancelledRepetition(
                brief,
                brief.withKeepAlive(true),
                holder -> assertThat(cluster.node(0)
                                .semaphores()
                                .tryAcquire(AcquireRequest.of(name).withWaitTime(SOON)))
                        .isPresent());
    }

    /** The first one was to be kept alive; the one that has repeated it was not. */
    @Test
    void aCancelledAcquireDoesNotKeepTheGrantAliveForWhoHasRepeatedIt() throws Exception {
        AcquireRequest brief = request.withTtl(Duration.ofSeconds(3)).withKeepAlive(true);
        AtomicBoolean isFirst = new AtomicBoolean(true);
        SemaphoreListener slowForTheFirst = new SemaphoreListener() {
            @Override
            public void acquired(Acquired event) {
                if (isFirst.getAndSet(false)) {
                    granted.countDown();
                    await(goOn);
                }
            }
        };
        try (Node node = Node.on(cluster.schema(), TestSettings.defaults(), slowForTheFirst)) {
            CompletableFuture<PermitGrant> left = node.semaphores().acquireAsync(brief);
            await(granted);
            PermitGrant holder = node.semaphores().acquire(request.withTtl(Duration.ofSeconds(5)));
            assertThat(left.cancel(true)).isTrue();
            goOn.countDown();

            assertThat(cluster.node(0)
                            .semaphores()
                            .tryAcquire(AcquireRequest.of(name).withWaitTime(SOON)))
                    .as("after the TTL of " + holder)
                    .isPresent();
        }
    }

    /** The lease of the instance, which keeps nothing alive any more, says nothing about the grant. */
    @ParameterizedTest(name = "without TTL: {0}")
    @ValueSource(booleans = {false, true})
    void aRepetitionWithoutKeepAliveAfterTheMaximumHoldIsHeld(boolean withoutTtl) {
        try (Node node = Node.on(cluster.schema(), BRIEF)) {
            AcquireRequest brief =
                    request.withTtl(Duration.ofSeconds(1)).withKeepAlive(true).withMaxHold(Duration.ofSeconds(1));
            PermitGrant first = node.semaphores().acquire(brief);
            Awaitility.await("the end of its maximum hold")
                    .atMost(SOON)
                    .until(() -> !node.events().subjects("lost").isEmpty());
            Awaitility.await("the end of the lease")
                    .pollDelay(Duration.ofSeconds(4))
                    .until(() -> true);

            PermitGrant again = node.semaphores().acquire(withoutTtl ? request.withoutTtl() : request);

            assertThat(again.isHeld()).isTrue();
            assertThat(first.isHeld()).isTrue();
        }
    }

    @Test
    void aCancelledRepetitionDoesNotShortenTheMaximumHold() throws Exception {
        AcquireRequest brief = request.withTtl(Duration.ofSeconds(6)).withKeepAlive(true);
        afterACancelledRepetition(brief, brief.withMaxHold(Duration.ofSeconds(2)), holder -> {
            Awaitility.await("longer than the maximum hold of the repetition")
                    .pollDelay(Duration.ofSeconds(7))
                    .until(() -> true);
            assertThat(holder.isHeld()).isTrue();
            holder.release(); // the shutdown would wait for it
        });
    }

    /** In one instance: the caller that repeats the acquire leaves when its grant is registered. */
    private void afterACancelledRepetition(
            AcquireRequest request, AcquireRequest repetition, Consumer<PermitGrant> action) {
        CountDownLatch both = new CountDownLatch(2);
        SemaphoreListener slowForTheSecond = new SemaphoreListener() {
            @Override
            public void acquired(Acquired event) {
                both.countDown();
                if (both.getCount() == 0) {
                    await(goOn);
                }
            }
        };
        try (Node node = Node.on(cluster.schema(), TestSettings.defaults(), slowForTheSecond)) {
            PermitGrant holder = node.semaphores().acquire(request);
            CompletableFuture<PermitGrant> left = node.semaphores().acquireAsync(repetition);
            await(both);
            assertThat(left.cancel(true)).isTrue();
            goOn.countDown();
            action.accept(holder);
        }
    }

    /** The expiry of the first grant has been read when its acquire is repeated. */
    @Test
    void aGrantThatIsHeldAgainIsReportedWhenItExpiresAgain() {
        try (Node node = Node.on(cluster.schema())) {
            PermitGrant grant = node.semaphores().acquire(request.withTtl(Duration.ofSeconds(1)));
            Pause look = node.gate().pauseAfterCommitOf("permit_request");
            look.awaitReached(SOON);
            PermitGrant again = node.semaphores().acquire(request.withTtl(Duration.ofSeconds(3)));
            look.open();

            Awaitility.await("the report")
                    .atMost(SOON)
                    .until(() -> !node.events().subjects("lost").isEmpty());

            assertThat(again.isHeld()).as("when it was reported").isFalse();
            assertThat(grant.isHeld()).isFalse();
            assertThat(node.events().subjects("lost")).containsExactly(grant.externalId());
        }
    }

    /** A dependent action of the application blocks the thread that cancels the future. */
    @Test
    void aGrantThatArrivesAfterItsFutureWasCancelledIsLeftToTheCallerThatRepeatedIt() throws Exception {
        CountDownLatch cancelled = new CountDownLatch(1);
        CountDownLatch told = new CountDownLatch(1);
        try (Node first = Node.on(cluster.schema(), TestSettings.defaults(), slow)) {
            CompletableFuture<PermitGrant> acquire = first.semaphores().acquireAsync(request);
            var unused = acquire.whenComplete((grant, failure) -> {
                cancelled.countDown();
                await(told);
            });
            await(granted);
            PermitGrant repeated = cluster.node(1).semaphores().acquire(request);
            Future<Boolean> cancel = Concurrently.async(() -> acquire.cancel(true));
            await(cancelled);
            goOn.countDown();

            staysHeld(repeated);

            told.countDown();
            assertThat(Concurrently.get(cancel)).isTrue();
        } finally {
            told.countDown();
        }
    }

    /** A repetition elsewhere that asks for less time: the holder is at work, and its grant is kept alive. */
    @Test
    void aShorterRepetitionDoesNotCostALiveHolderItsPermits() throws Exception {
        AcquireRequest adopted = AcquireRequest.of(name).withExternalId(cluster.externalId());
        cluster.node(0).semaphores().executeWithoutResult(adopted, holder -> {
            cluster.node(1).semaphores().acquire(adopted.withTtl(Duration.ofSeconds(1)));
            Awaitility.await("longer than the shorter time to live")
                    .pollDelay(Duration.ofMillis(1500))
                    .until(() -> true);
            // once: a permit that was granted wrongly would be the reason for the next refusal
            assertThat(cluster.node(1).semaphores().tryAcquire(AcquireRequest.of(name)))
                    .isEmpty();
            assertThat(holder.isHeld()).isTrue();
        });
    }

    private void staysHeld(PermitGrant holder) {
        Awaitility.await("the grant of the holder")
                .during(Duration.ofMillis(1500))
                .atMost(SOON)
                .untilAsserted(() -> {
                    assertThat(SemaphoreRows.states(cluster.schema(), holder.externalId()))
                            .as("in the database")
                            .containsExactly("ACQUIRED");
                    assertThat(holder.isHeld()).as("by its handle").isTrue();
                });
    }

    private static void await(CountDownLatch latch) {
        try {
            assertThat(latch.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException e) {
            throw new IllegalStateException(e);
        }
    }
}
