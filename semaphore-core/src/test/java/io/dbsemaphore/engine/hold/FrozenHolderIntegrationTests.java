package io.dbsemaphore.engine.hold;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import io.dbsemaphore.testing.node.Waits;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A process that is stopped (SIGSTOP) while its transaction is open: between its lock and its commit. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FrozenHolderIntegrationTests {

    private static final Duration START = Duration.ofSeconds(60);
    private static final int LOCK_WAIT = 2;
    private static final int IDLE_LIMIT = 4;

    private static Schema schema;
    private static SemaphoreRows rows;
    private static Node node;

    private ChildJvm process;

    @BeforeAll
    static void start() {
        assumeTrue(Files.isDirectory(Path.of("/proc/self/task")), "only on Linux");
        schema = TestDatabase.createForProcesses().migrate();
        rows = new SemaphoreRows(schema);
        node = Node.on(schema, TestSettings.limits(LOCK_WAIT, IDLE_LIMIT, 3));
    }

    @AfterAll
    static void stop() {
        if (schema != null) {
            node.close();
            schema.close();
        }
    }

    @BeforeEach
    void startProcess() {
        process = ChildJvm.start(
                SemaphoreProcess.class, schema.handOver(), String.valueOf(LOCK_WAIT), String.valueOf(IDLE_LIMIT));
        process.awaitLine("READY", START);
    }

    @AfterEach
    void stopProcess() {
        process.close();
    }

    @Slow
    @ParameterizedTest
    @CsvSource({"insert into permit_request, 1", "commit, 2"})
    void delaysOthersBySeconds(String where, int capacity) {
        String name = SemaphoreRows.name("frozen");
        String unconcerned = SemaphoreRows.name("unconcerned");
        node.admin().create(name, capacity);
        node.admin().create(unconcerned, 1000);
        String id = "of-the-frozen-" + name;
        process.send("stop-before " + where);
        process.send("acquire " + id + " 300 60 " + name);
        process.awaitLine("STOPPED", START);

        process.stop();
        long frozen = System.nanoTime();
        AcquireRequest request = AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(20));
        CompletableFuture<PermitGrant> acquired =
                CompletableFuture.supplyAsync(() -> node.semaphores().acquire(request));
        new Waits(schema).await("from semaphore");
        assertThat(acquired).as("the acquire of the locked semaphore").isNotDone();
        assertNoOtherCallerIsDelayed(unconcerned);
        PermitGrant grant = acquired.orTimeout(25, TimeUnit.SECONDS).join();
        Duration delay = Duration.ofNanos(System.nanoTime() - frozen);

        assertThat(delay)
                .as("delay by a process frozen before its %s", where)
                .isLessThan(Duration.ofSeconds(IDLE_LIMIT + LOCK_WAIT + 8));
        assertThat(rows.states(id)).isEmpty(); // the server has rolled back
        rows.assertHeldByOnly(grant);

        process.cont();
        process.send("go-on");

        if (capacity == 1) { // it has to wait for the one that was faster
            assertThat(rows.states(id)).isEmpty();
            grant.release();
        }
        process.awaitLine("GRANTED " + id, START);
        assertThat(rows.held(name)).isEqualTo(capacity);
        assertThat(rows.states(id)).containsExactly("ACQUIRED");
    }

    private static void assertNoOtherCallerIsDelayed(String unconcerned) {
        List<Duration> acquires = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            long begun = System.nanoTime();
            node.semaphores().acquire(AcquireRequest.of(unconcerned));
            acquires.add(Duration.ofNanos(System.nanoTime() - begun));
        }
        assertThat(acquires.stream().sorted().toList().get(4))
                .as("median of %s; a statement waits for a row for a second", acquires)
                .isLessThan(Duration.ofMillis(700));
    }
}
