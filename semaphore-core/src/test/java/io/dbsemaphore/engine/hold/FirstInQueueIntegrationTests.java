package io.dbsemaphore.engine.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An instance is killed, frozen or loses its connections while its caller is the first of the queue of all instances. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Measured
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FirstInQueueIntegrationTests {

    private static final Duration START = Duration.ofSeconds(60);
    private static final Duration WAIT_TIME = Duration.ofSeconds(60);

    /** 1.5 seconds are promised; the rest is for a loaded machine. */
    private static final Duration PROMISED = Duration.ofMillis(2_500);

    private static Schema schema;
    private static Node node;

    private String name = "";

    @BeforeAll
    static void start() {
        assumeTrue(Files.isDirectory(Path.of("/proc/self/task")), "only on Linux");
        schema = TestDatabase.createForProcesses().migrate();
        node = Node.on(schema);
    }

    @AfterAll
    static void stop() {
        if (schema != null) {
            node.close();
            schema.close();
        }
    }

    @Slow
    @Test
    void aKilledInstanceDelaysTheOthersBriefly() {
        try (ChildJvm process = startProcess()) {
            PermitGrant held = holdBeforeTheProcess(process);
            Future<PermitGrant> second = waitBehind(2);

            process.kill9();
            held.release();

            Served served = awaitServed(second);

            served.assertInTime("killed");
        }
    }

    /** The callers of the process come later than another one, and are ahead of it by their head start. */
    @Slow
    @Test
    void aKilledInstanceWithHeadStartsDelaysTheOthersBriefly() {
        try (ChildJvm process = startProcess()) {
            name = SemaphoreRows.name("queue");
            node.admin().create(name, 1);
            PermitGrant held = node.semaphores().acquire(AcquireRequest.of(name));
            Future<PermitGrant> other = waitBehind(1);
            process.send("head-start 600");
            process.send("acquire first-of-" + name + " 300 60 " + name);
            awaitWaiting(2);

            held.release();
            process.awaitLine("GRANTED first-of-" + name, START);
            assertThat(other.isDone()).as("overtaken").isFalse();
            process.send("acquire second-of-" + name + " 300 60 " + name);
            awaitWaiting(2);
            process.kill9();
            node.semaphores().release("first-of-" + name);

            Served served = awaitServed(other);

            served.assertInTime("killed");
        }
    }

    @Slow
    @Test
    void aFrozenInstanceDelaysTheOthersBrieflyAndKeepsItsPlace() throws Exception {
        try (ChildJvm process = startProcess()) {
            PermitGrant held = holdBeforeTheProcess(process);
            Future<PermitGrant> second = waitBehind(2);
            CompletableFuture<PermitGrant> third = waitBehind(3);
            Future<Void> thirdReleased = third.thenAcceptAsync(PermitGrant::release);

            process.stop();
            held.release();
            Served served = awaitServed(second);
            process.cont();
            awaitWaiting(2);
            served.grant().release();

            process.awaitLine("GRANTED first-of-" + name, START);
            boolean overtaken = third.isDone();
            node.semaphores().release("first-of-" + name);
            thirdReleased.get(20, TimeUnit.SECONDS);
            Measurement.check(() -> assertThat(overtaken).as("overtaken").isFalse());
            served.assertInTime("frozen");
        }
    }

    @Test
    void anInstanceWithoutConnectionsDelaysTheOthersBriefly() {
        try (TcpProxy proxy = schema.newProxy();
                Node cut = Node.behind(proxy, schema, 5, TestSettings.defaults())) {
            name = SemaphoreRows.name("queue");
            node.admin().create(name, 1);
            PermitGrant held = node.semaphores().acquire(AcquireRequest.of(name));
            CompletableFuture<PermitGrant> first =
                    cut.semaphores().acquireAsync(AcquireRequest.of(name).withWaitTime(WAIT_TIME));
            awaitWaiting(1);
            Future<PermitGrant> second = waitBehind(2);

            proxy.refuse(true);
            proxy.cutAll();
            held.release();
            Served served = awaitServed(second);

            proxy.refuse(false);
            served.grant().release();
            first.orTimeout(30, TimeUnit.SECONDS).join().release();
            served.assertInTime("without connections");
        }
    }

    private static ChildJvm startProcess() {
        ChildJvm process = ChildJvm.start(SemaphoreProcess.class, schema.handOver(), "5", "10");
        process.awaitLine("READY", START);
        return process;
    }

    /** Holds the only permit, so that the process waits for it. */
    private PermitGrant holdBeforeTheProcess(ChildJvm process) {
        name = SemaphoreRows.name("queue"); // a further measurement has another one
        node.admin().create(name, 1);
        PermitGrant held = node.semaphores().acquire(AcquireRequest.of(name));
        process.send("acquire first-of-" + name + " 300 60 " + name);
        awaitWaiting(1);
        return held;
    }

    private CompletableFuture<PermitGrant> waitBehind(int waiting) {
        CompletableFuture<PermitGrant> caller =
                node.semaphores().acquireAsync(AcquireRequest.of(name).withWaitTime(WAIT_TIME));
        awaitWaiting(waiting);
        return caller;
    }

    private void awaitWaiting(int count) {
        await("waiting: " + count)
                .atMost(START)
                .until(() -> node.admin()
                        .find(name)
                        .filter(status -> status.waiting() == count)
                        .isPresent());
    }

    private record Served(PermitGrant grant, Duration delay) {

        void assertInTime(String what) {
            Measurement.check(() -> assertThat(delay)
                    .as("delay by an instance that was %s", what)
                    .isLessThan(PROMISED));
        }
    }

    private static Served awaitServed(Future<PermitGrant> caller) {
        long begun = System.nanoTime();
        try {
            PermitGrant grant = caller.get(20, TimeUnit.SECONDS);
            return new Served(grant, Duration.ofNanos(System.nanoTime() - begun));
        } catch (Exception failure) {
            throw new IllegalStateException(failure);
        }
    }
}
