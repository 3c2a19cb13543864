package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireInterruptedException;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.concurrent.FutureTask;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.awaitility.Awaitility;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/** An interrupt ends a wait and is not swallowed; whatever it meets, nothing is half done. */
class InterruptIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final Node node = cluster.node(0);
    private final String name = cluster.semaphore(1);

    @AfterEach
    void clearFlag() {
        Thread.interrupted();
    }

    @Test
    void endsAWait() throws Exception {
        node.semaphores().acquire(AcquireRequest.of(name));
        Map<String, List<Map<String, Object>>> before = cluster.rows();
        StatementGate.Pause refused = node.gate().pauseAfterCommitOf("insert into semaphore_waiter");
        FutureTask<Boolean> waiter = new FutureTask<>(() -> {
            assertThatExceptionOfType(AcquireInterruptedException.class)
                    .isThrownBy(() ->
                            node.semaphores().acquire(AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(60))))
                    .withMessageContainingAll(name, "nothing is held")
                    .satisfies(e -> assertThat(e.names()).containsExactly(name));
            return Thread.currentThread().isInterrupted();
        });
        Thread thread = start(waiter);
        refused.awaitReached(SOON);
        refused.open();
        Concurrently.assertWaits(waiter);

        thread.interrupt();

        assertThat(Concurrently.get(waiter)).as("flag").isEqualTo(true);
        assertThat(cluster.rows()).isEqualTo(before);
    }

    @Test
    void refusesToAcquireWithTheFlagSet() {
        Map<String, List<Map<String, Object>>> before = cluster.rows();

        Thread.currentThread().interrupt();
        assertThatExceptionOfType(AcquireInterruptedException.class)
                .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(name)));

        assertThat(Thread.interrupted()).as("flag").isEqualTo(true);
        assertThat(cluster.rows()).isEqualTo(before);
    }

    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL}) // H2 drops the flag itself
    void doesNotBreakATransactionThatIsUnderWay() throws Exception {
        FutureTask<Boolean> acquire = new FutureTask<>(() -> {
            assertThatExceptionOfType(AcquireInterruptedException.class)
                    .isThrownBy(() -> node.semaphores().tryAcquire(AcquireRequest.of(name)));
            return Thread.currentThread().isInterrupted();
        });
        try (RowLock lock = cluster.lock(name)) {
            Thread thread = start(acquire);
            Concurrently.assertWaits(acquire);
            thread.interrupt();
            // the transaction is on another thread, and ends without a grant
            assertThat(Concurrently.get(acquire)).as("flag").isEqualTo(true);
        }

        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isPresent();
        assertThat(cluster.held(name)).isEqualTo(1);
    }

    /** As when a refusal is under way: it must not wait again, since nothing would end that wait. */
    @Test
    void endsAWaitWhoseRefusalIsBeingWritten() throws Exception {
        node.semaphores().acquire(AcquireRequest.of(name));
        StatementGate.Pause refusing = node.gate().pauseBeforeCommitOf("insert into semaphore_waiter");
        FutureTask<Boolean> waiter = new FutureTask<>(() -> {
            assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(60))))
                    .isEmpty();
            return Thread.currentThread().isInterrupted();
        });
        Thread thread = start(waiter);
        refusing.awaitReached(SOON);
        thread.interrupt();
        Concurrently.assertWaits(waiter);

        refusing.open();

        assertThat(waiter.get(10, TimeUnit.SECONDS)).as("flag").isEqualTo(true);
        assertThat(cluster.held(name)).isEqualTo(1);
    }

    @Test
    void releasesWithTheFlagSet() {
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));

        Thread.currentThread().interrupt();
        ReleaseOutcome outcome = grant.release();

        assertThat(Thread.interrupted()).as("flag").isEqualTo(true);
        assertThat(outcome).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(cluster.held(name)).isZero();
    }

    @Test
    void releasesAfterWorkThatWasInterrupted() {
        node.semaphores()
                .executeWithoutResult(
                        AcquireRequest.of(name), grant -> Thread.currentThread().interrupt());

        assertThat(Thread.interrupted()).as("flag").isEqualTo(true);
        assertThat(cluster.held(name)).isZero();
    }

    @Test
    void grantsOrSaysThatItWasInterruptedBetweenTwoAttempts() {
        LosingDataSource dataSource = new LosingDataSource(cluster.schema().newPool(2));
        Node losing = cluster.start(dataSource);
        dataSource.arm();

        boolean granted;
        try {
            granted = losing.semaphores().tryAcquire(AcquireRequest.of(name)).isPresent();
        } catch (AcquireInterruptedException e) {
            granted = false;
        }

        assertThat(Thread.interrupted()).as("flag").isEqualTo(true);
        assertThat(cluster.held(name)).isEqualTo(granted ? 1 : 0);
    }

    @Test
    void releasesWhenInterruptedBetweenTwoAttempts() {
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));
        LosingDataSource dataSource = new LosingDataSource(cluster.schema().newPool(2));
        Node losing = cluster.start(dataSource);
        dataSource.arm();

        ReleaseOutcome outcome = losing.semaphores().release(grant.externalId());

        assertThat(Thread.interrupted()).as("flag").isEqualTo(true);
        assertThat(outcome).isEqualTo(ReleaseOutcome.RELEASED);
    }

    /** Loses its first transaction after it was armed, and is interrupted before it can try again. */
    private static final class LosingDataSource extends DelegatingDataSource {

        private final AtomicBoolean armed = new AtomicBoolean();
        private final Thread caller = Thread.currentThread();

        private final HikariDataSource pool;

        LosingDataSource(HikariDataSource pool) {
            super(pool);
            this.pool = pool;
        }

        /** When the start has given its connections back. */
        void arm() {
            Awaitility.await().until(() -> pool.getHikariPoolMXBean().getActiveConnections() == 0);
            armed.set(true);
        }

        @Override
        public Connection getConnection() throws SQLException {
            if (armed.compareAndSet(true, false)) {
                caller.interrupt();
                throw new SQLException("Deadlock found", "40001", 1213);
            }
            return super.getConnection();
        }
    }

    private static <T extends @Nullable Object> Thread start(FutureTask<T> task) {
        Thread thread = new Thread(task, "interrupted");
        thread.setDaemon(true);
        thread.start();
        return thread;
    }
}
