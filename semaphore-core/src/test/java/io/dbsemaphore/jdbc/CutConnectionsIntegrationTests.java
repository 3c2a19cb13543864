package io.dbsemaphore.jdbc;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.sql.SQLRecoverableException;
import java.time.Duration;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Connections break again and again, and new ones can be had: what has time left is tried again. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Timeout(value = 90, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CutConnectionsIntegrationTests {

    private static final int MORE_THAN_ATTEMPTS = 1 + TestSettings.defaults().get(SemaphoreSettings.MAX_ATTEMPTS);

    private Schema schema;
    private SemaphoreRows rows;
    private TcpProxy proxy;
    private Node node;

    @BeforeEach
    void start() {
        schema = TestDatabase.create().migrate();
        rows = new SemaphoreRows(schema);
        proxy = schema.newProxy();
        node = new Node(schema.newPool(6, proxy));
        node.admin().create("a", 2);
    }

    @AfterEach
    void stop() {
        node.close();
        schema.close();
    }

    @Test
    void doNotFailAnAcquireThatDoesNotWait() {
        cut("sum(");

        rows.assertHeldByOnly(node.semaphores().acquire(AcquireRequest.of("a")));
    }

    @Test
    void doNotFailARelease() {
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of("a"));
        cut("update permit_request");

        assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Slow
    @Test
    void doNotFailAReleaseById() {
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of("a"));
        try (Node other = new Node(schema.newPool(6, proxy))) {
            cut(other, "from permit_request");

            assertThat(other.semaphores().release(grant.externalId())).isEqualTo(ReleaseOutcome.RELEASED);
        }
    }

    @Slow
    @Test
    void doNotFailARenewal() {
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of("a"));
        cut("from permit_request");

        assertThat(grant.renew(Duration.ofMinutes(1)).isHeld()).isEqualTo(true);
    }

    @Slow
    @Test
    void doNotFailAnOperator() {
        cut("from semaphore");

        node.admin().setCapacity("a", 5, "test", "cuts");
    }

    /** Some 30 cuts in a second, whatever is under way. */
    @Slow
    @Test
    void failNoCallerInARaceWithThem() throws Exception {
        ScheduledExecutorService cutter = Executors.newSingleThreadScheduledExecutor();
        Queue<Throwable> failures = new ConcurrentLinkedQueue<>();
        AtomicInteger pairs = new AtomicInteger();
        long until = System.nanoTime() + TimeUnit.SECONDS.toNanos(1);
        Future<?> unused = cutter.scheduleAtFixedRate(proxy::cutAll, 34, 34, TimeUnit.MILLISECONDS);
        Future<?> unusedToo = cutter.schedule(cutter::shutdownNow, 1, TimeUnit.SECONDS); // before any caller gives up
        List<Thread> callers = IntStream.range(0, 4)
                .mapToObj(i -> new Thread(() -> {
                    AcquireRequest request = AcquireRequest.of("a");
                    while (System.nanoTime() < until) {
                        try {
                            node.semaphores()
                                    .tryAcquire(i == 0 ? request : request.withWaitTime(Duration.ofSeconds(20)))
                                    .ifPresent(grant -> {
                                        grant.release();
                                        pairs.incrementAndGet();
                                    });
                        } catch (RuntimeException failure) {
                            failures.add(failure);
                        }
                    }
                }))
                .toList();
        callers.forEach(Thread::start);
        for (Thread caller : callers) {
            caller.join(TimeUnit.SECONDS.toMillis(25));
        }

        assertThat(failures).isEmpty();
        assertThat(pairs).hasPositiveValue();
        rows.awaitNothingHeld(Duration.ofSeconds(10), List.of("a"));
    }

    private void cut(String statement) {
        cut(node, statement);
    }

    private static void cut(Node node, String statement) {
        for (int i = 0; i < MORE_THAN_ATTEMPTS; i++) {
            node.gate()
                    .failBefore(statement, new SQLRecoverableException("Can not read response from server", "08S01"));
        }
    }
}
