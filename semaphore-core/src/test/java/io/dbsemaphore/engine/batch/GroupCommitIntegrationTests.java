package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Deadline;
import io.dbsemaphore.domain.AcquireCommand;
import io.dbsemaphore.domain.RemainingAvailability;
import io.dbsemaphore.jdbc.Database;
import io.dbsemaphore.jdbc.DatabaseThreads;
import io.dbsemaphore.jdbc.Sessions;
import io.dbsemaphore.line.OwnLines;
import io.dbsemaphore.persistence.SemaphorePersistence;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Cluster;
import java.sql.SQLException;
import java.time.Duration;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ScheduledExecutorService;
import java.util.function.Consumer;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A batch that was committed is settled exactly once, whatever fails afterwards. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GroupCommitIntegrationTests {

    private static final Duration LIMIT = Duration.ofSeconds(5);
    private static final BatchLimits LIMITS = new BatchLimits(2, 500, 3, LIMIT, LIMIT);

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final String name = cluster.semaphore(1);
    private final DaemonThreads threads = new DaemonThreads();
    private final ScheduledExecutorService scheduler = threads.scheduler("semaphore-scheduler");
    private Sessions connections;
    private SemaphorePersistence persistence;
    private BackgroundReleaser background;
    private Runnable afterCommit = () -> {};
    private GroupCommit commit;
    private WorkQueue queue;

    @BeforeEach
    void open() throws SQLException {
        HikariDataSource pool = cluster.schema().newPool(3);
        Database database = Database.of(pool);
        connections = new Sessions(pool, database, LIMIT, LIMIT, 2, true, new DatabaseThreads(2, new DaemonThreads()));
        persistence = SemaphorePersistence.open(connections, database, "", LIMIT, TestSettings.oneTripFrom(), null);
        background = new BackgroundReleaser(persistence.undoing(), scheduler, connections.threads());
        BatchObserver observer = new BatchObserver() {
            @Override
            public void waiting(Set<String> names) {}

            @Override
            public void committed(Map<String, RemainingAvailability> availability) {
                afterCommit.run();
                throw new IllegalStateException("after the commit");
            }

            @Override
            public void tell(Consumer<SemaphoreListener> event) {}
        };
        commit = new GroupCommit(
                new GroupCommit.Collaborators(
                        persistence.batches(),
                        persistence.availabilityTransactions(),
                        () -> 1,
                        background,
                        observer,
                        new OwnLines(() -> 1, "test", each -> false),
                        threads,
                        scheduler,
                        connections.threads(),
                        Runnable::run,
                        null),
                LIMITS,
                false);
        queue = commit.queue;
    }

    @AfterEach
    void close() {
        background.close();
        scheduler.shutdownNow();
        persistence.unit().close();
        connections.close();
    }

    @Test
    void aGrantIsTheAnswer() {
        Acquire acquire = acquire(false);

        assertThatThrownBy(commit::grant).hasMessage("after the commit");

        assertThat(acquire.answer()).isCompleted();
        assertThat(cluster.held(name)).isEqualTo(1);
        for (int i = 0; i < 4; i++) {
            acquire(false);
        }
        assertThat(queue.isBusy()).as("contended by four callers").isTrue();
    }

    /** The next batch has begun with a caller of this one that waits: it is no concern of this one any more. */
    @Test
    void aCallerThatIsInTheNextBatchIsLeftToIt() {
        PermitGrant held = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
        Acquire waiting = acquire(true);
        CompletableFuture<Batch> next = new CompletableFuture<>();

        afterCommit = () -> {
            held.release();
            assertThat(queue.released(Map.of(name, 1))).isTrue();
            next.complete(queue.take(true, false));
        };

        assertThatThrownBy(commit::grant).hasMessage("after the commit");

        assertThat(next.join().members()).containsExactly(waiting);
        assertThat(waiting.isInBatch()).as("in the next batch").isTrue();
        assertThat(waiting.attempt().failures()).as("failed attempts").isZero();
        assertThat(waiting.answer()).isNotDone();
        assertThat(queue.nanosToWork()).as("nothing else is ready").isEqualTo(Long.MAX_VALUE);
    }

    private Acquire acquire(boolean waits) {
        AcquireCommand command = new AcquireCommand(
                cluster.externalId(), false, false, Map.of(name, 1), false, Duration.ofMinutes(5), "test", null, null);
        Acquire acquire = WorkQueueFixture.acquire(command, waits, Deadline.in(LIMIT), QueueClock.SYSTEM);
        queue.add(acquire);
        return acquire;
    }
}
