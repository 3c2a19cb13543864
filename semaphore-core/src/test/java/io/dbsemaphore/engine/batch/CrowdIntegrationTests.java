package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import com.zaxxer.hikari.HikariConfig;
import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreException;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.ExecutorService;
import java.util.concurrent.Executors;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DataAccessResourceFailureException;
import org.springframework.transaction.TransactionException;

/** Many more callers than connections. Everybody comes to an end, and in time. */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Promise
class CrowdIntegrationTests {

    private static final Duration LATE = Duration.ofMillis(500);

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    @Measured
    @Test
    void withinTransactionsOfAHostThatHasTwoConnectionsIsAnsweredInTime() throws Exception {
        int callers = 200;
        Duration waitTime = Duration.ofSeconds(3);
        String name = cluster.semaphore(10);
        HikariConfig config = cluster.schema().poolConfig(2, cluster.schema().jdbcUrl());
        config.setConnectionTimeout(Duration.ofSeconds(20).toMillis());
        Queue<Duration> waits = new ConcurrentLinkedQueue<>();
        AtomicInteger granted = new AtomicInteger();
        AtomicInteger refused = new AtomicInteger();
        try (HikariDataSource pool = new HikariDataSource(config);
                Node node = new Node(pool, TestSettings.defaults())) {
            inThreads(Executors.newFixedThreadPool(callers), callers, () -> {
                try {
                    node.transaction().executeWithoutResult(status -> {
                        node.jdbc().queryForObject("select 1", Integer.class); // the connection is the host's now
                        long begun = System.nanoTime();
                        PermitGrant grant = null;
                        try {
                            grant = node.semaphores()
                                    .acquire(AcquireRequest.of(name).withWaitTime(waitTime));
                            granted.incrementAndGet();
                        } catch (SemaphoreException | DataAccessException notInTime) {
                            refused.incrementAndGet();
                        }
                        waits.add(Duration.ofNanos(System.nanoTime() - begun));
                        releaseSoonOrLater(grant);
                    });
                } catch (TransactionException noConnectionForTheHost) {
                    refused.incrementAndGet();
                }
            });
            assertThat(granted.get() + refused.get()).isEqualTo(callers);
            assertThat(waits).isNotEmpty();
        }
        assertThat(cluster.held(name)).isZero();
        assertInTime(waits, waitTime);
    }

    /** Without a connection of the host's, which its transactions have all, it goes on in the background. */
    private static void releaseSoonOrLater(@Nullable PermitGrant grant) {
        try (grant) {
            assertThat(grant == null || grant.isHeld())
                    .as("the permits are held")
                    .isEqualTo(true);
        } catch (DataAccessException noConnection) {
            assertThat(noConnection).isInstanceOf(DataAccessResourceFailureException.class);
        }
    }

    @Test
    void usesAHandfulOfConnections() throws Exception {
        String name = cluster.semaphore(20);
        HikariConfig config = cluster.schema().poolConfig(60, cluster.schema().jdbcUrl());
        try (HikariDataSource pool = new HikariDataSource(config);
                Node node = new Node(pool, TestSettings.defaults())) {
            inThreads(Executors.newFixedThreadPool(128), 128, () -> {
                for (int i = 0; i < 10; i++) {
                    PermitGrant grant =
                            node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(30)));
                    node.semaphores().renew(grant.externalId(), Duration.ofMinutes(1));
                    grant.release();
                }
            });
            assertThat(node.gate().connections().peak())
                    .isLessThanOrEqualTo(TestSettings.defaults().get(SemaphoreSettings.MAX_CONNECTIONS));
        }
        assertThat(cluster.held(name)).isZero();
    }

    @Test
    void ofTenThousandVirtualThreadsGoesThroughASemaphoreOfTen() throws Exception {
        assumeTrue(
                Runtime.version().feature() >= 21,
                "Virtual threads need Java 21 or later; this is Java "
                        + Runtime.version().feature());
        String name = cluster.semaphore(10);
        PeakCounter inside = new PeakCounter();
        AtomicInteger done = new AtomicInteger();
        HikariConfig config = cluster.schema().poolConfig(4, cluster.schema().jdbcUrl());
        config.setConnectionTimeout(Duration.ofSeconds(5).toMillis());
        try (HikariDataSource pool = new HikariDataSource(config);
                Node node = new Node(pool, TestSettings.defaults())) {
            inThreads(virtualThreads(), 10_000, () -> {
                PermitGrant grant =
                        node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(100)));
                inside.enter();
                done.incrementAndGet();
                inside.leave();
                grant.release();
            });
        }
        assertThat(done.get()).isEqualTo(10_000);
        assertThat(inside.peak()).isLessThanOrEqualTo(10);
        assertThat(cluster.held(name)).isZero();
    }

    @Measured
    @Test
    void thatWaitsIsAnsweredInTimeAlsoWhenTheDatabaseIsAway() throws Exception {
        TestDatabase.assumeServer();
        Duration waitTime = Duration.ofSeconds(6);
        String name = cluster.semaphore(1);
        Queue<Duration> waits = new ConcurrentLinkedQueue<>();
        try (TcpProxy proxy = cluster.schema().newProxy()) {
            HikariConfig config =
                    cluster.schema().poolConfig(4, cluster.schema().jdbcUrl(proxy));
            try (HikariDataSource pool = new HikariDataSource(config);
                    Node node = new Node(pool, TestSettings.defaults())) {
                node.semaphores().acquire(AcquireRequest.of(name));
                List<Future<?>> callers = new ArrayList<>();
                ExecutorService threads = Executors.newFixedThreadPool(30);
                for (int i = 0; i < 30; i++) {
                    callers.add(threads.submit(() -> {
                        long begun = System.nanoTime();
                        try {
                            node.semaphores()
                                    .acquire(AcquireRequest.of(name).withWaitTime(waitTime))
                                    .release();
                        } catch (SemaphoreException | DataAccessException expected) {
                            waits.add(Duration.ofNanos(System.nanoTime() - begun));
                        }
                    }));
                }
                awaitWaiting(30);
                proxy.refuse(true);
                proxy.cutAll();
                for (Future<?> caller : callers) {
                    Concurrently.get(caller);
                }
                threads.shutdownNow();
                proxy.refuse(false);
            }
        }
        assertThat(waits)
                .hasSize(30)
                .allSatisfy(wait -> assertThat(wait).isGreaterThanOrEqualTo(waitTime.minusMillis(50)));
        assertInTime(waits, waitTime);
    }

    @Measured
    @Test
    void thatWaitsForWhatOthersHoldIsRefusedInTime() throws Exception {
        Duration waitTime = Duration.ofSeconds(1);
        String name = cluster.semaphore(1);
        Node node = cluster.node(0);
        PermitGrant held = node.semaphores().acquire(AcquireRequest.of(name));
        Queue<Duration> waits = new ConcurrentLinkedQueue<>();

        inThreads(Executors.newFixedThreadPool(100), 100, () -> {
            long begun = System.nanoTime();
            try {
                node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(waitTime));
            } catch (PermitsUnavailableException expected) {
                waits.add(Duration.ofNanos(System.nanoTime() - begun));
            }
        });

        assertThat(waits)
                .hasSize(100)
                .allSatisfy(wait -> assertThat(wait).isGreaterThanOrEqualTo(waitTime.minusMillis(50)));
        held.release();
        assertInTime(waits, waitTime);
    }

    private static void assertInTime(Collection<Duration> waits, Duration waitTime) {
        Measurement.check(
                () -> assertThat(waits).allSatisfy(wait -> assertThat(wait).isLessThanOrEqualTo(waitTime.plus(LATE))));
    }

    private static void inThreads(ExecutorService threads, int callers, Runnable task) throws Exception {
        try {
            List<? extends Future<?>> all = IntStream.range(0, callers)
                    .mapToObj(i -> threads.submit(task))
                    .toList();
            for (Future<?> each : all) {
                each.get(110, TimeUnit.SECONDS);
            }
        } finally {
            threads.shutdownNow();
        }
    }

    /** By reflection: these tests are compiled for Java 17. */
    private static ExecutorService virtualThreads() throws ReflectiveOperationException {
        return (ExecutorService)
                Executors.class.getMethod("newVirtualThreadPerTaskExecutor").invoke(null);
    }

    /** All wait. */
    private static void awaitWaiting(int callers) {
        Awaitility.await().atMost(Duration.ofSeconds(20)).until(() -> WaitingCallers.count() == callers);
    }
}
