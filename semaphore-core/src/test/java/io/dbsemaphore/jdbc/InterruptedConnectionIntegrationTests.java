package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An interrupt while a thread of the library waits for a connection ends nothing: the work is done, and the flag is kept. */
@Slow
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InterruptedConnectionIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(10);
    private static final int POOL_SIZE = TestSettings.defaults().get(SemaphoreSettings.MAX_CONNECTIONS);

    private Schema schema;
    private SemaphoreRows rows;
    private HikariDataSource pool;
    private Node node;
    private Node other;
    private Thread interrupted;

    /** What a call came to, and whether the interrupt flag was set afterwards. */
    private record Ended<T>(T result, boolean flag) {}

    @BeforeEach
    void start() {
        schema = TestDatabase.create().migrate();
        rows = new SemaphoreRows(schema);
        pool = schema.newPool(POOL_SIZE);
        node = new Node(pool);
        other = new Node(schema.newPool(2));
        List.of("a", "b", "c").forEach(name -> other.admin().create(name, 1));
    }

    @AfterEach
    void stop() {
        node.close();
        other.close();
        schema.close();
    }

    @Test
    void releasesWhileTheLibraryUsesAllItsConnections() throws Exception {
        String id = other.semaphores().acquire(AcquireRequest.of("a")).externalId();
        FutureTask<Ended<ReleaseOutcome>> release;
        List<Future<?>> users = new ArrayList<>();
        try (Emptied empty = new Emptied()) {
            for (int i = 0; i < POOL_SIZE; i++) {
                users.add(Concurrently.async(() -> node.semaphores().find("none")));
            }
            // one connection is for the keep-alive
            Awaitility.await().atMost(SOON).until(() -> threadsIn("SessionPool") == POOL_SIZE - 1);
            release = start(() -> node.semaphores().release(id));

            interruptWithin("Uninterruptibles");
        }

        assertThat(Concurrently.get(release)).isEqualTo(new Ended<>(ReleaseOutcome.RELEASED, true));
        for (Future<?> user : users) {
            Concurrently.get(user);
        }
        rows.assertNothingHeld(List.of("a"));
    }

    @Test
    void releasesWhileThePoolHasNoConnection() throws Exception {
        String id = other.semaphores().acquire(AcquireRequest.of("a")).externalId();
        FutureTask<Ended<ReleaseOutcome>> release;
        try (Emptied empty = new Emptied()) {
            release = start(() -> node.semaphores().release(id));

            interruptWithin("Uninterruptibles");
        }

        assertThat(Concurrently.get(release)).isEqualTo(new Ended<>(ReleaseOutcome.RELEASED, true));
        rows.assertNothingHeld(List.of("a"));
    }

    /** A worker waits for a connection for both. */
    @Test
    void failsNoOtherAcquire() throws Exception {
        FutureTask<Ended<Boolean>> caller;
        Future<PermitGrant> another;
        try (Emptied empty = new Emptied()) {
            caller = start(() -> isGranted("a"));
            Awaitility.await().atMost(SOON).until(() -> threadsIn("SessionPool") > 0);
            another = Concurrently.async(() -> node.semaphores().acquire(AcquireRequest.of("b")));

            interruptWithin("AcquireService");
        }

        assertThat(Concurrently.get(another).isHeld()).isEqualTo(true);
        Ended<Boolean> ended = Concurrently.get(caller);
        assertThat(ended.flag()).as("flag").isEqualTo(true);
        assertThat(rows.held("a")).isEqualTo(ended.result() ? 1 : 0);
    }

    private boolean isGranted(String name) {
        try {
            return node.semaphores().tryAcquire(AcquireRequest.of(name)).isPresent();
        } catch (AcquireInterruptedException nothingHeld) {
            return false;
        }
    }

    private <T> FutureTask<Ended<T>> start(Callable<T> call) {
        FutureTask<Ended<T>> task = new FutureTask<>(
                () -> new Ended<>(call.call(), Thread.currentThread().isInterrupted()));
        interrupted = new Thread(task, "interrupted");
        interrupted.setDaemon(true);
        interrupted.start();
        return task;
    }

    /** Interrupts the thread when it waits there, and returns when it has taken note of it. */
    private void interruptWithin(String where) {
        Awaitility.await().atMost(SOON).until(() -> isIn(interrupted, where));
        interrupted.interrupt();
        Awaitility.await().atMost(SOON).until(() -> !interrupted.isInterrupted() || !interrupted.isAlive());
    }

    private static boolean isIn(Thread thread, String where) {
        return Arrays.stream(thread.getStackTrace())
                .anyMatch(frame -> frame.getClassName().contains(where));
    }

    private static long threadsIn(String where) {
        return Thread.getAllStackTraces().values().stream()
                .filter(stack -> Arrays.stream(stack)
                        .anyMatch(frame -> frame.getClassName().contains(where)))
                .count();
    }

    /** All connections of the pool, until it is closed. */
    private final class Emptied implements AutoCloseable {

        private final List<Connection> connections = new ArrayList<>();

        Emptied() throws Exception {
            for (int i = 0; i < POOL_SIZE; i++) {
                connections.add(pool.getConnection());
            }
        }

        @Override
        public void close() throws Exception {
            for (Connection connection : connections) {
                connection.close();
            }
        }
    }
}
