package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.NodesPerTest;
import io.dbsemaphore.testing.node.RecordingListener.Event;
import io.dbsemaphore.testing.node.RowLock;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Each event is heard once, by its instance only, and on the thread that is documented. */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ListenerIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);

    /** As many as may block at a time. */
    private static final int COMPLETIONS = 64;

    @RegisterExtension
    static final NodesPerTest nodes = new NodesPerTest();

    private final SemaphoreSettings settings =
            TestSettings.instanceTimeout(TestSettings.defaults().get(SemaphoreSettings.INSTANCE_TIMEOUT));
    private final Node node = nodes.start(settings);
    private final Node other = nodes.start(settings);

    @Test
    void hearsOfAnAcquireARefusalAndARelease() {
        String name = node.semaphore(1);

        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));
        Optional<PermitGrant> none = node.semaphores().tryAcquire(AcquireRequest.of(name));
        grant.release();
        ReleaseOutcome again = grant.release();

        assertThat(none).isEmpty();
        assertThat(again).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertThat(node.events().of("acquired")).containsExactly(here("acquired", grant.externalId()));
        assertThat(node.events().of("refused")).containsExactly(here("refused", name));
        assertThat(node.events().of("released")).containsExactly(here("released", grant.externalId()));
        assertThat(other.events().of("acquired")).isEmpty();
        assertThat(other.events().of("released")).isEmpty();
    }

    @Test
    void hearsOfAReleaseThatWasPutOff() {
        String name = node.semaphore(1);
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));

        ReleaseOutcome outcome = node.transaction().execute(status -> {
            node.semaphores().requireHeld(grant);
            return grant.release();
        });

        assertThat(outcome).isEqualTo(ReleaseOutcome.DEFERRED);
        Awaitility.await("the release").atMost(SOON).until(() -> SemaphoreRows.held(nodes.schema(), name) == 0);
        Awaitility.await("its being told")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(node.events().of("released"))
                        .singleElement()
                        .satisfies(event -> assertThat(event.of()).isEqualTo(grant.externalId()))
                        .satisfies(event -> assertThat(event.thread()).startsWith("semaphore-")));
    }

    @Test
    void hearsOfAReleaseAtShutdown() {
        String name = node.semaphore(1);
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));

        node.close();

        assertThat(SemaphoreRows.held(nodes.schema(), name)).isZero();
        assertThat(node.events().subjects("released")).containsExactly(grant.externalId());
    }

    @Test
    void isNotifiedOfAnExpiryOnTheThreadThatReclaims() {
        String name = node.semaphore(1);
        PermitGrant expired = other.semaphores().acquire(AcquireRequest.of(name).withTtl(Duration.ofSeconds(1)));

        node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON));

        // listeners are notified when the batch has ended, and the caller may have its grant before that
        Awaitility.await("the expiry")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(node.events().of("expired"))
                        .singleElement()
                        .satisfies(event -> assertThat(event.of()).isEqualTo(expired.externalId()))
                        .satisfies(event -> assertThat(event.thread()).startsWith("semaphore-database")));
        assertThat(other.events().of("expired")).isEmpty();
    }

    @Test
    void hearsOfALossOnAThreadOfTheLibrary() {
        String name = node.semaphore(1);
        PermitGrant grant = node.semaphores()
                .acquire(AcquireRequest.of(name).withTtl(Duration.ofSeconds(6)).withKeepAlive(true));

        ReleaseOutcome outcome = other.admin().forceRelease(grant.externalId(), "operator", "a drill");

        assertThat(outcome).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(other.events().of("forced"))
                .containsExactly(here("forced", grant.externalId() + " by operator: a drill"));
        Awaitility.await("the loss")
                .atMost(SOON)
                .untilAsserted(() -> assertThat(node.events().of("lost"))
                        .singleElement()
                        .satisfies(lost -> {
                            assertThat(lost.of()).isEqualTo(grant.externalId());
                            assertThat(lost.thread()).startsWith("semaphore-application-");
                        }));
        assertThat(grant.isHeld()).isFalse();
        assertThat(node.events().of("forced")).isEmpty();
    }

    /** Code of the application that runs where an acquire completes has other threads, which it may block all. */
    @Test
    void hearsOfALossWhileCompletionsBlock() throws SQLException {
        String name = node.semaphore(1);
        String many = node.semaphore(COMPLETIONS);
        CountDownLatch end = new CountDownLatch(1);
        try {
            List<CompletableFuture<?>> blocked;
            try (RowLock untilAllAreThere = RowLock.ofSemaphore(nodes.schema(), many)) {
                blocked = Stream.generate(() -> node.semaphores().acquireAsync(AcquireRequest.of(many)))
                        .limit(COMPLETIONS)
                        .<CompletableFuture<?>>map(acquired -> acquired.thenRun(() -> awaitEnd(end)))
                        .toList();
            }
            Awaitility.await("the acquires")
                    .atMost(SOON)
                    .until(() -> SemaphoreRows.held(nodes.schema(), many) == COMPLETIONS);

            node.semaphores().acquire(AcquireRequest.of(name).withTtl(Duration.ofSeconds(1)));

            Awaitility.await("the loss")
                    .atMost(SOON)
                    .untilAsserted(() -> assertThat(node.events().of("lost")).isNotEmpty());
            assertThat(blocked).noneMatch(CompletableFuture::isDone);
        } finally {
            end.countDown();
        }
    }

    private static void awaitEnd(CountDownLatch end) {
        try {
            assertThat(end.await(60, TimeUnit.SECONDS)).isTrue();
        } catch (InterruptedException interrupt) {
            Thread.currentThread().interrupt();
        }
    }

    /** An {@code Error}, too: a listener is the host's code. */
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void isNotDisturbedByOneThatThrows(boolean error) {
        try (Node disturbed = Node.on(
                nodes.schema(),
                TestSettings.instanceTimeout(TestSettings.defaults().get(SemaphoreSettings.INSTANCE_TIMEOUT)),
                new Throwing(error))) {
            String name = disturbed.semaphore(1);
            String kept = disturbed.semaphore(2);
            other.semaphores().acquire(AcquireRequest.of(name).withTtl(Duration.ofSeconds(1)));
            AcquireRequest request =
                    AcquireRequest.of(kept).withTtl(Duration.ofSeconds(6)).withKeepAlive(true);

            PermitGrant grant =
                    disturbed.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON));
            Optional<PermitGrant> none = disturbed.semaphores().tryAcquire(AcquireRequest.of(name));
            PermitGrant taken = disturbed.semaphores().acquire(request);
            PermitGrant stays = disturbed.semaphores().acquire(request);
            ReleaseOutcome released = grant.release();
            other.admin().forceRelease(taken.externalId(), "operator", "a drill");

            assertThat(none).isEmpty();
            assertThat(released).isEqualTo(ReleaseOutcome.RELEASED);
            Awaitility.await("the loss")
                    .atMost(SOON)
                    .untilAsserted(() ->
                            assertThat(disturbed.events().subjects("lost")).containsExactly(taken.externalId()));
            Awaitility.await("the other to be held throughout")
                    .during(Duration.ofSeconds(6))
                    .atMost(SOON)
                    .untilAsserted(() -> assertThat(stays.isHeld()).isTrue());
            assertThat(SemaphoreRows.held(nodes.schema(), name)).isZero();
            assertThat(SemaphoreRows.held(nodes.schema(), kept)).isEqualTo(1);
            List.of("acquired", "refused", "released", "expired")
                    .forEach(kind ->
                            assertThat(disturbed.events().of(kind)).as(kind).isNotEmpty());
        }
    }

    private static Event here(String kind, String of) {
        return new Event(kind, of, Thread.currentThread().getName());
    }

    private record Throwing(boolean error) implements SemaphoreListener {

        @Override
        public void acquired(Acquired event) {
            fail();
        }

        @Override
        public void refused(Refused event) {
            fail();
        }

        @Override
        public void released(Released event) {
            fail();
        }

        @Override
        public void expired(Expired event) {
            fail();
        }

        @Override
        public void lost(Lost event) {
            fail();
        }

        private void fail() {

            if (error) {
                throw new AssertionError("on purpose");
            }
            throw new IllegalStateException("on purpose");
        }
    }
}
