package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.Sessions;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A stop returns when the records of this instance are deleted, also the second one, after the batches in flight. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AvailabilityPollerIntegrationTests {

    private static final Duration LIMIT = Duration.ofSeconds(5);
    private static final long INSTANCE = 4711;

    /** A stop waits for no longer. */
    private static final Duration WAIT = Duration.ofSeconds(1);

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final String name = cluster.semaphore(1);
    private final WorkQueue queue = new WorkQueue(
            new BatchLimits(2, 500, 3, LIMIT, LIMIT),
            false,
            new OwnLines(() -> INSTANCE, "test", each -> true),
            QueueClock.SYSTEM);
    private StatementGate gate;
    private Sessions sessions;
    private SemaphorePersistence persistence;
    private AvailabilityPoller poller;

    @BeforeEach
    void open() throws SQLException {
        HikariDataSource pool = cluster.schema().newPool(2);
        Database database = Database.of(pool);
        gate = new StatementGate(pool);
        sessions = new Sessions(gate, database, LIMIT, LIMIT, 2, true, new DatabaseThreads(2, new DaemonThreads()));
        persistence = SemaphorePersistence.open(sessions, database, "", LIMIT, TestSettings.oneTripFrom(), null);
        poller = new AvailabilityPoller(
                queue, persistence.availabilityTransactions(), sessions.threads(), null, () -> {});
        recordCallers();
        poller.stop(true);
        awaitNoRecords();
    }

    @AfterEach
    void close() {
        gate.close();
        persistence.unit().close();
        sessions.close();
    }

    @Measured
    @Test
    void awaitsTheDeletionThatTheSecondStopBegins() throws InterruptedException {
        recordCallers();
        queue.recordDeparted(Set.of(name));

        assertAwaitsDeletion(gate.pauseBefore("delete from semaphore_waiter"));
    }

    /** The end of the batch has begun it. */
    @Measured
    @Test
    void awaitsTheDeletionThatIsUnderWay() throws InterruptedException {
        recordCallers();
        queue.recordDeparted(Set.of(name));
        Pause deletion = gate.pauseBefore("delete from semaphore_waiter");
        poller.begin();
        deletion.awaitReached(LIMIT);

        assertAwaitsDeletion(deletion);
    }

    private void assertAwaitsDeletion(Pause deletion) throws InterruptedException {
        Thread stop = new Thread(() -> poller.stop(false), "second stop");
        long begun = System.nanoTime();
        stop.start();
        deletion.awaitReached(LIMIT);
        await().atMost(LIMIT)
                .until(
                        stop::getState,
                        state -> state == Thread.State.TIMED_WAITING || state == Thread.State.TERMINATED);

        boolean waited = stop.getState() == Thread.State.TIMED_WAITING;
        deletion.open();
        stop.join();
        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        boolean deleted = records() == 0;
        if (!(waited && deleted) && took.compareTo(WAIT) >= 0) {
            awaitNoRecords();
            throw Measurement.late("the stop may have given up, after " + took);
        }
        assertThat(waited).as("waited for the deletion").isTrue();
        assertThat(deleted).as("deleted when the stop returned").isTrue();
    }

    private void awaitNoRecords() {
        await().atMost(LIMIT).until(() -> records() == 0);
    }

    /** As a batch does that refuses callers. */
    private void recordCallers() {
        cluster.schema()
                .jdbc()
                .update(
                        "insert into semaphore_waiter (semaphore_id, instance, owner, since, waiting, first_waiters, expires_at)"
                                + " select id, ?, 'test', current_timestamp, 1, '-', current_timestamp from semaphore where name = ?",
                        INSTANCE,
                        name);
    }

    private long records() {
        return cluster.schema()
                .jdbc()
                .queryForObject("select count(*) from semaphore_waiter where instance = ?", Long.class, INSTANCE);
    }
}
