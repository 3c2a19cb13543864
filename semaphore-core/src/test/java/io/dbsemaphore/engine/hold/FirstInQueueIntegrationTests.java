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
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FirstInQueueIntegrationTests {

    private static final Duration START = Duration.ofSeconds(60);
    private static final Duration WAIT_TIME = Duration.ofSeconds(60);

    /** 1.5 seconds are promised; the rest is for a loaded machine. Without the promise it would be the wait time. */
    private static final Duration PROMISED = Duration.ofSeconds(8);

    private static Schema schema;
    private static Node node;

    private final String name = SemaphoreRows.name("queue");

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

            assertServedInTime(second, "killed");
        }
    }

    @Slow
    @Test
    void aFrozenInstanceDelaysTheOthersBrieflyAndKeepsItsPlace() throws Exception {
        try (ChildJvm process = startProcess()) {
            PermitGrant held = holdBeforeTheProcess(process);
            Future<PermitGrant> second = waitBehind(2);
            Future<PermitGrant> third = waitBehind(3);

            process.stop();
            held.release();
            PermitGrant grant = assertServedInTime(second, "frozen");
            process.cont();
            awaitWaiting(2);
            grant.release();

            process.awaitLine("GRANTED first-of-" + name, START);
            assertThat(third).as("the one behind it").isNotDone();
            node.semaphores().release("first-of-" + name);
            third.get(20, TimeUnit.SECONDS).release();
        }
    }

    @Test
    void anInstanceWithoutConnectionsDelaysTheOthersBriefly() {
        try (TcpProxy proxy = schema.newProxy();
                Node cut = Node.behind(proxy, schema, 5, TestSettings.defaults())) {
            node.admin().create(name, 1);
            PermitGrant held = node.semaphores().acquire(AcquireRequest.of(name));
            CompletableFuture<PermitGrant> first =
                    cut.semaphores().acquireAsync(AcquireRequest.of(name).withWaitTime(WAIT_TIME));
            awaitWaiting(1);
            Future<PermitGrant> second = waitBehind(2);

            proxy.refuse(true);
            proxy.cutAll();
            held.release();
            PermitGrant grant = assertServedInTime(second, "without connections");

            proxy.refuse(false);
            grant.release();
            first.orTimeout(30, TimeUnit.SECONDS).join().release();
        }
    }

    private static ChildJvm startProcess() {
        ChildJvm process = ChildJvm.start(SemaphoreProcess.class, schema.handOver(), "5", "10");
        process.awaitLine("READY", START);
        return process;
    }

    /** Holds the only permit, so that the process waits for it. */
    private PermitGrant holdBeforeTheProcess(ChildJvm process) {
        node.admin().create(name, 1);
        PermitGrant held = node.semaphores().acquire(AcquireRequest.of(name));
        process.send("acquire first-of-" + name + " 300 60 " + name);
        awaitWaiting(1);
        return held;
    }

    private Future<PermitGrant> waitBehind(int waiting) {
        Future<PermitGrant> caller =
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

    private static PermitGrant assertServedInTime(Future<PermitGrant> caller, String what) {
        long begun = System.nanoTime();
        PermitGrant grant = CompletableFuture.supplyAsync(() -> {
                    try {
                        return caller.get(20, TimeUnit.SECONDS);
                    } catch (Exception failure) {
                        throw new IllegalStateException(failure);
                    }
                })
                .join();
        Duration delay = Duration.ofNanos(System.nanoTime() - begun);
        assertThat(delay).as("delay by an instance that was %s", what).isLessThan(PROMISED);
        return grant;
    }
}
