package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicReference;
import java.util.concurrent.locks.LockSupport;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.slf4j.LoggerFactory;

/** The orderly end of an instance. */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShutdownIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final SemaphoreSettings SETTINGS = TestSettings.defaults();

    private static Schema schema;

    @BeforeAll
    static void migrate() {
        schema = TestDatabase.create().migrate();
    }

    @AfterAll
    static void drop() {
        schema.close();
    }

    @Test
    void leavesNothingHeldButWhatIsToOutliveIt() throws Exception {
        Node node = Node.on(schema, SETTINGS);
        String acquired = node.semaphore(10);
        String worked = node.semaphore(10);
        String forever = node.semaphore(1);
        String outliving = node.semaphore(1);
        for (int i = 0; i < 10; i++) {
            node.semaphores().acquire(AcquireRequest.of(acquired).withTtl(HOUR));
        }
        System.gc(); // nobody has kept these handles
        PermitGrant registration =
                node.semaphores().acquire(AcquireRequest.of(forever).withoutTtl());
        PermitGrant outlives = node.semaphores()
                .acquire(AcquireRequest.of(outliving).withTtl(HOUR).withReleaseAtShutdown(false));
        CountDownLatch begun = new CountDownLatch(10);
        CountDownLatch finish = new CountDownLatch(1);
        List<Future<Boolean>> work = new ArrayList<>();
        for (int i = 0; i < 10; i++) {
            work.add(Concurrently.async(
                    "work",
                    () -> node.semaphores().execute(AcquireRequest.of(worked).withTtl(HOUR), grant -> {
                        begun.countDown();
                        finish.await(60, TimeUnit.SECONDS);
                        return grant.isHeld();
                    })));
        }
        assertThat(begun.await(SOON.toSeconds(), TimeUnit.SECONDS)).as("begun").isTrue();

        Future<?> closing = close(node);

        assertWaits(closing);
        assertThat(SemaphoreRows.held(schema, worked))
                .as("while the work goes on")
                .isEqualTo(10);
        assertThat(node.admin().find(worked)).as("for the work").isPresent();
        finish.countDown();
        closing.get(SOON.toSeconds(), TimeUnit.SECONDS);
        for (Future<Boolean> each : work) {
            assertThat(each.get(SOON.toSeconds(), TimeUnit.SECONDS))
                    .as("held to the end")
                    .isTrue();
        }
        assertThat(SemaphoreRows.held(schema, acquired)).isZero();
        assertThat(SemaphoreRows.held(schema, worked)).isZero();
        assertThat(SemaphoreRows.held(schema, forever)).isEqualTo(1);
        assertThat(SemaphoreRows.states(schema, registration.externalId())).containsExactly("ACQUIRED");
        assertThat(SemaphoreRows.states(schema, outlives.externalId())).containsExactly("ACQUIRED");
        assertThat(schema.jdbc().queryForList("select id from semaphore_instance"))
                .isEmpty();
    }

    @Test
    void releasesWhatWorkHoldsThatDoesNotEnd() throws Exception {
        Node node = Node.on(schema, TestSettings.instanceTimeout(Duration.ofSeconds(20), Duration.ofSeconds(1)));
        String name = node.semaphore(1);
        AtomicReference<String> externalId = new AtomicReference<>();
        CountDownLatch begun = new CountDownLatch(1);
        CountDownLatch finish = new CountDownLatch(1);
        Future<Boolean> work = Concurrently.async(
                "work",
                () -> node.semaphores().execute(AcquireRequest.of(name).withTtl(HOUR), grant -> {
                    externalId.set(grant.externalId());
                    begun.countDown();
                    finish.await(60, TimeUnit.SECONDS);
                    return grant.isHeld();
                }));
        assertThat(begun.await(SOON.toSeconds(), TimeUnit.SECONDS)).as("begun").isTrue();

        List<String> messages = messagesWhile(() -> close(node).get(10, TimeUnit.SECONDS));

        assertThat(SemaphoreRows.held(schema, name)).isZero();
        assertThat(messages)
                .filteredOn(message -> message.contains("still held at shutdown"))
                .singleElement()
                .asString()
                .startsWith("WARN 1 grant(s) still held at shutdown were lost")
                .contains(
                        externalId.get(),
                        name,
                        "no longer counts against the limit",
                        "semaphore.shutdown-timeout (PT1S)",
                        " for PT");
        assertThat(node.events().subjects("lost")).containsExactly(externalId.get());
        assertThat(node.events().of("released")).isEmpty();
        finish.countDown();
        assertThat(work.get(SOON.toSeconds(), TimeUnit.SECONDS))
                .as("held after its instance has ended")
                .isFalse();
    }

    /** Waiting for itself, it would wait for the whole of semaphore.shutdown-timeout. */
    @Measured
    @ParameterizedTest
    @ValueSource(booleans = {false, true})
    void doesNotWaitForWorkThatEndsItsOwnInstance(boolean reused) throws Exception {
        String name = SemaphoreRows.name("ending");
        Node node = Node.on(
                schema,
                reused ? SETTINGS.with(SemaphoreSettings.REUSE, PerSemaphore.all(Duration.ofMillis(250))) : SETTINGS);
        node.admin().create(name, 2);
        node.semaphores().executeWithoutResult(AcquireRequest.of(name), grant -> {});
        CountDownLatch begun = new CountDownLatch(1);
        Future<Boolean> other = Concurrently.async(
                "work",
                () -> node.semaphores().execute(AcquireRequest.of(name), grant -> {
                    begun.countDown();
                    Awaitility.await("the release of the other grant")
                            .pollDelay(Duration.ofSeconds(1))
                            .until(() -> true);
                    return grant.isHeld();
                }));
        assertThat(begun.await(SOON.toSeconds(), TimeUnit.SECONDS)).as("begun").isTrue();
        AtomicReference<String> externalId = new AtomicReference<>();
        AtomicReference<Duration> took = new AtomicReference<>();

        List<String> messages = messagesWhile(() -> node.semaphores().execute(AcquireRequest.of(name), grant -> {
            externalId.set(grant.externalId());
            long closing = System.nanoTime();
            node.close();
            took.set(Duration.ofNanos(System.nanoTime() - closing));
            return grant.isHeld();
        }));

        assertThat(other.get(SOON.toSeconds(), TimeUnit.SECONDS))
                .as("held to the end")
                .isTrue();
        assertThat(messages)
                .filteredOn(message -> message.startsWith("WARN"))
                .singleElement()
                .asString()
                .startsWith("WARN 1 grant(s) were lost because their own work shut the application down")
                .contains(externalId.get(), name, "no longer counts against the limit", " for PT")
                .doesNotContain("shutdown-timeout");
        assertThat(node.events().subjects("lost")).containsExactly(externalId.get());
        assertThat(SemaphoreRows.held(schema, name)).isZero();
        Measurement.check(() -> assertThat(took.get())
                .as("with a semaphore.shutdown-timeout of 20 s")
                .isLessThan(Duration.ofSeconds(10)));
    }

    /** The thread that calls it does not return, and is not the one that runs the shutdown. */
    @ParameterizedTest
    @ValueSource(strings = {"exit", "exit-late"})
    void doesNotWaitForWorkThatExits(String exit) {
        try (Schema shared = TestDatabase.createForProcesses().migrate();
                ChildJvm process = ChildJvm.start(OperationsProcess.class, shared.handOver(), "20", "60")) {
            process.awaitLine("READY", Duration.ofSeconds(60));

            process.send(exit);
            process.awaitLine("EXITING", SOON);

            assertThat(process.awaitExit(SOON)).isEqualTo(3);
            assertThat(process.output()).anyMatch(line -> line.contains("their own work shut the application down"));
            assertThat(SemaphoreRows.held(shared, "exit")).isZero();
        }
    }

    @Test
    void endsTheWaitOfWaitingCallers() throws Exception {
        Node node = Node.on(schema, SETTINGS);
        String name = node.semaphore(1);
        node.semaphores().acquire(AcquireRequest.of(name).withoutTtl());
        node.gate().clear();
        Future<PermitGrant> waiting = Concurrently.async(
                "waiting",
                () -> node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(60))));
        Awaitility.await("a try").atMost(SOON).until(() -> node.gate().count("insert into semaphore_waiter") > 0);

        close(node).get(15, TimeUnit.SECONDS);

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> waiting.get(2, TimeUnit.SECONDS))
                .withCauseInstanceOf(SemaphoreClosedException.class);
        assertThatExceptionOfType(SemaphoreClosedException.class)
                .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(name)));
        assertThat(SemaphoreRows.held(schema, name)).isEqualTo(1);
    }

    /** They are refused at once, so that there is always one that asks. */
    @Measured
    @Test
    void isBoundedBesideACrowdThatGoesOnAsking() throws Exception {
        Node node = Node.on(schema, SETTINGS);
        AcquireRequest request = AcquireRequest.of(node.semaphore(4));
        AtomicBoolean stop = new AtomicBoolean();
        CountDownLatch refused = new CountDownLatch(100);
        List<Future<?>> crowd = new ArrayList<>();
        for (int i = 0; i < 64; i++) {
            crowd.add(Concurrently.async("crowd", () -> {
                while (!stop.get()) {
                    try {
                        node.semaphores().tryAcquire(request).ifPresent(PermitGrant::release);
                    } catch (SemaphoreClosedException closed) {
                        refused.countDown();
                        LockSupport.parkNanos(100_000);
                    }
                }
                return null;
            }));
        }
        Awaitility.await("grants")
                .atMost(SOON)
                .until(() -> node.events().of("acquired").size() > 20);

        long closing = System.nanoTime();
        close(node).get(40, TimeUnit.SECONDS);
        Duration took = Duration.ofNanos(System.nanoTime() - closing);

        assertThat(refused.await(SOON.toSeconds(), TimeUnit.SECONDS)).isTrue();
        stop.set(true);
        for (Future<?> each : crowd) {
            each.get(SOON.toSeconds(), TimeUnit.SECONDS);
        }
        new SemaphoreRows(schema).assertNothingHeld(request.permits().keySet());
        Measurement.check(() ->
                assertThat(took).as("with a semaphore.shutdown-timeout of 20 s").isLessThan(Duration.ofSeconds(10)));
    }

    @Test
    void waitsForAReleaseThatIsUnderWay() throws Exception {
        HikariDataSource pool = schema.newPool(6);
        Node node = new Node(pool, SETTINGS);
        String name = node.semaphore(1);
        Pause release = node.gate().pauseBefore("set state = 'RELEASED'");
        Future<?> work = Concurrently.async("work", () -> {
            node.semaphores().executeWithoutResult(AcquireRequest.of(name).withTtl(HOUR), grant -> {});
            return null;
        });
        release.awaitReached(SOON);

        Future<?> closing = Concurrently.async("close", () -> {
            node.closeEngine();
            pool.close(); // as a context does, as soon as the engine is done
            return null;
        });
        assertWaits(closing);
        release.open();

        closing.get(SOON.toSeconds(), TimeUnit.SECONDS);
        work.get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(SemaphoreRows.held(schema, name)).isZero();
    }

    @Test
    void releasesTheOthersAlthoughOneIsBeingChecked() throws Exception {
        Node node = new Node(schema.newPool(6), SETTINGS); // a pool that outlives the node, as that of a host does
        String name = node.semaphore(3);
        PermitGrant checked = node.semaphores().acquire(AcquireRequest.of(name).withTtl(HOUR));
        node.semaphores().acquire(AcquireRequest.of(name).withTtl(HOUR));
        node.semaphores().acquire(AcquireRequest.of(name).withTtl(HOUR));

        List<String> messages = messagesWhile(() -> node.transaction().execute(status -> {
            node.semaphores().requireHeld(checked);
            try {
                close(node).get(40, TimeUnit.SECONDS);
            } catch (InterruptedException | ExecutionException | TimeoutException failure) {
                throw new IllegalStateException(failure);
            }

            assertThat(SemaphoreRows.held(schema, name)).isEqualTo(1);
            return true;
        }));

        assertThat(messages)
                .filteredOn(message -> message.contains("could not be released"))
                .singleElement()
                .asString()
                .startsWith("WARN 1 grant(s)");
        assertThat(messages)
                .noneMatch(message -> message.contains("still held at shutdown")); // nobody is known to work
    }

    private static List<String> messagesWhile(Callable<?> action) throws Exception {
        return eventsWhile(action).stream()
                .map(event -> event.getLevel() + " " + event.getFormattedMessage())
                .toList();
    }

    static List<ILoggingEvent> eventsWhile(Callable<?> action) throws Exception {
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        Logger logger = (Logger) LoggerFactory.getLogger("io.dbsemaphore");
        log.start();
        logger.addAppender(log);
        try {
            Object unused = action.call();
        } finally {
            logger.detachAppender(log);
        }
        return List.copyOf(log.list);
    }

    /** Other instances would wait for the heartbeats of an instance that has ended. */
    @Test
    void isTheEndOfAHeartbeatThatIsUnderWay() throws Exception {
        Node node = Node.on(schema, TestSettings.instanceTimeout(Duration.ofSeconds(3)));
        String name = node.semaphore(1);
        node.semaphores().acquire(AcquireRequest.of(name).withTtl(HOUR).withKeepAlive(true));
        Pause heartbeat = node.gate().pauseBefore("update semaphore_instance");
        heartbeat.awaitReached(SOON);

        Future<?> closing = Concurrently.async("close", () -> {
            node.closeEngine();
            return null;
        });
        Awaitility.await("the release").atMost(SOON).until(() -> SemaphoreRows.held(schema, name) == 0);
        assertWaits(closing);
        heartbeat.open();

        closing.get(SOON.toSeconds(), TimeUnit.SECONDS);
        assertThat(schema.jdbc().queryForList("select id from semaphore_instance"))
                .isEmpty();
    }

    @Test
    void isBoundedWhileTheDatabaseRefusesConnections() throws Exception {
        TestDatabase.assumeServer();
        try (Schema apart = TestDatabase.create().migrate()) {
            TcpProxy proxy = apart.newProxy();
            Node node = new Node(
                    apart.newPool(4, proxy), // which waits for 30 seconds by itself
                    TestSettings.instanceTimeout(Duration.ofSeconds(20), Duration.ofSeconds(2)));
            holdTwo(node);
            proxy.refuse(true);
            proxy.cutAll();

            assertBounded(node);
        }
    }

    @Test
    void isBoundedWhileTheDatabaseDoesNotAnswer() throws Exception {
        TestDatabase.assumeServer();
        try (Schema apart = TestDatabase.create().migrate()) {
            TcpProxy proxy = apart.newProxy();
            Node node = new Node(
                    apart.newPool(4, proxy),
                    TestSettings.instanceTimeout(Duration.ofSeconds(20), Duration.ofSeconds(2)));
            holdTwo(node);
            proxy.silenceNextCommitAnswer("RELEASED");

            assertBounded(node);
        }
    }

    /** Ten seconds for what is under way, two for the work, ten for the release, and a margin. */
    private static void assertBounded(Node node) throws Exception {
        long begun = System.nanoTime();
        close(node).get(40, TimeUnit.SECONDS);
        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        assertThat(took).as("until an instance without its database has ended").isLessThan(Duration.ofSeconds(25));
    }

    static void holdTwo(Node node) {
        String name = node.semaphore(2);
        node.semaphores().acquire(AcquireRequest.of(name).withTtl(HOUR));
        node.semaphores().acquire(AcquireRequest.of(name).withTtl(HOUR).withKeepAlive(true));
    }

    static Future<?> close(Node node) {
        return Concurrently.async("close", () -> {
            node.close();
            return null;
        });
    }

    private static void assertWaits(Future<?> future) {
        assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> future.get(700, TimeUnit.MILLISECONDS));
    }
}
