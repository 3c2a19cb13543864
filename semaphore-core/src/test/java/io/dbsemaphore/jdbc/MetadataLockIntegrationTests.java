package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.dao.CannotAcquireLockException;

/** Another session has locked whole tables, as for DDL or a backup: each statement waits for a bounded time. */
@Slow
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class MetadataLockIntegrationTests {

    private static final int ATTEMPTS = 2;

    private Schema schema;
    private Node node;

    @BeforeEach
    void start() {
        schema = TestDatabase.create().migrate();
        node = Node.on(schema, TestSettings.limits(1, 30, ATTEMPTS));
        node.admin().create("a", 1);
        node.admin().create("b", 3);
        node.admin().create("free", 1);
    }

    @AfterEach
    void stop() {
        node.close();
        schema.close();
    }

    static List<String> locks() {
        return switch (TestDatabase.kind()) {
            case MYSQL, MARIADB ->
                List.of(
                        "lock tables semaphore write",
                        "lock tables permit write",
                        "lock tables permit_request write",
                        "flush tables with read lock");
            case POSTGRESQL -> List.of("lock table semaphore", "lock table permit", "lock table permit_request");
            case H2 -> throw new UnsupportedOperationException();
        };
    }

    @ParameterizedTest
    @MethodSource("locks")
    void failAnAcquireInTime(String lock) throws Exception {
        PermitGrant held = node.semaphores().acquire(AcquireRequest.of("a"));
        List<PermitGrant> others = Stream.generate(() -> node.semaphores().acquire(AcquireRequest.of("b")))
                .limit(3)
                .toList();
        try (RowLock tables = RowLock.begin(schema)) {
            tables.execute(lock);
            try {
                List<Future<Throwable>> atOnce = others.stream()
                        .map(each -> Concurrently.async(() -> inTime(each::release)))
                        .toList();
                assertThat(inTime(() -> node.semaphores().acquire(AcquireRequest.of("free"))))
                        .isInstanceOf(CannotAcquireLockException.class);
                assertThat(inTime(held::release))
                        .as("released now, or in the background")
                        .isNull();
                for (Future<Throwable> each : atOnce) {
                    assertThat(Concurrently.get(each)).isNull();
                }
                Throwable change = inTime(() -> node.admin().setCapacity("a", 3, "test", "locked"));
                assertThat(Stream.ofNullable(change)).hasOnlyElementsOfType(CannotAcquireLockException.class);
            } finally {
                unlock(tables);
            }
        }
        new SemaphoreRows(schema).awaitNothingHeld(Duration.ofSeconds(10), List.of("a", "b", "free"));
        node.semaphores().acquire(AcquireRequest.of("free")).close();
    }

    /** As a change of a table does while instances are replaced. */
    @Test
    void delayAStart() throws Exception {
        Future<Node> start;
        try (RowLock tables = RowLock.begin(schema)) {
            tables.execute(locks().get(0));
            start = Concurrently.async(() -> Node.on(schema, TestSettings.limits(20, 30, ATTEMPTS)));
            try {
                assertThatExceptionOfType(TimeoutException.class).isThrownBy(() -> start.get(3, TimeUnit.SECONDS));
            } finally {
                unlock(tables);
            }
        }
        try (Node started = start.get(20, TimeUnit.SECONDS)) {
            started.semaphores().acquire(AcquireRequest.of("free")).close();
        }
    }

    @Test
    void letAWaitingCallerGoThatIsInterrupted() throws Exception {
        FutureTask<Throwable> acquire = new FutureTask<>(() -> inTime(
                () -> node.semaphores().acquire(AcquireRequest.of("free").withWaitTime(Duration.ofSeconds(30)))));
        Thread caller = new Thread(acquire, "interrupted");
        try (RowLock tables = RowLock.begin(schema)) {
            tables.execute(locks().get(0));
            try {
                caller.start();
                Awaitility.await().until(() -> caller.getState() == Thread.State.WAITING);
                caller.interrupt();

                assertThat(acquire.get(ATTEMPTS + 8, TimeUnit.SECONDS)).isNotNull();
            } finally {
                unlock(tables);
            }
        }
        new SemaphoreRows(schema).awaitNothingHeld(Duration.ofSeconds(10), List.of("free"));
    }

    /** What it fails with, within the lock waits of all attempts and some more. */
    private static @Nullable Throwable inTime(Runnable call) {
        long begin = System.nanoTime();
        Throwable thrown = catchThrowable(call::run);
        assertThat(Duration.ofNanos(System.nanoTime() - begin)).isLessThan(Duration.ofSeconds(ATTEMPTS + 8));
        return thrown;
    }

    private void unlock(RowLock tables) throws Exception {
        if (schema.kind().isMySqlFamily()) {
            tables.execute("unlock tables");
        }
    }
}
