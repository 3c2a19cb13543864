package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An acquire locks the rows of its semaphores and nothing else; a release locks no semaphore at all. */
class LockExactnessIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);

    /** Well below the lock wait timeout: a caller that waits for a lock takes longer. */
    private static final Duration WITHOUT_WAITING = Duration.ofSeconds(4);

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private final Node node = cluster.node(0);
    private final Node other = cluster.node(1);

    @AfterEach
    void openGates() {
        node.gate().close();
    }

    @Test
    void waitsForTheRowThatItNeeds() throws Exception {
        String name = cluster.semaphore(1);
        Future<PermitGrant> acquire;
        try (RowLock lock = cluster.lock(name)) {
            acquire = Concurrently.async(() -> node.semaphores().acquire(AcquireRequest.of(name)));
            Concurrently.assertWaits(acquire);
        }
        assertThat(Concurrently.get(acquire).permits()).containsEntry(name, 1);
    }

    @Measured
    @Test
    void doesNotWaitForASemaphoreThatItDoesNotName() throws Exception {
        List<String> names = cluster.semaphores(3, 1);
        Duration first;
        Duration second;
        try (RowLock lock = cluster.lock(names.get(2))) {
            first = timed(() -> node.semaphores().acquire(AcquireRequest.of(names.get(0))));
            second = timed(() -> other.semaphores().acquire(AcquireRequest.of(names.get(1))));
        }
        assertThat(names).extracting(cluster::held).containsExactly(1L, 1L, 0L);
        Measurement.check(() -> assertThat(List.of(first, second))
                .allSatisfy(each -> assertThat(each).isLessThan(WITHOUT_WAITING)));
    }

    @Measured
    @Test
    void doesNotWaitForTheOneOfFiftySemaphoresThatItLeavesOut() throws Exception {
        List<String> names = cluster.semaphores(50, 1);
        AcquireRequest thirty = thirtyOf(names);
        Duration took;
        try (RowLock lock = cluster.lock(names.get(20))) {
            took = timed(() -> node.semaphores().acquire(thirty));
        }
        assertThat(names.stream().mapToLong(cluster::held).sum()).isEqualTo(30);
        Measurement.check(() -> assertThat(took).isLessThan(WITHOUT_WAITING));
    }

    @Measured
    @Test
    void releasesWhileTheSemaphoreIsLocked() throws Exception {
        String name = cluster.semaphore(1);
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));
        Duration took;
        try (RowLock lock = cluster.lock(name)) {
            took = timed(() -> assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED));
            assertThat(cluster.held(name)).isZero();
        }
        Measurement.check(() -> assertThat(took).isLessThan(WITHOUT_WAITING));
    }

    @Measured
    @Test
    void letsOthersCreateAcquireAndReleaseWhileItIsUnderWay() throws Exception {
        List<String> names = cluster.semaphores(50, 1);
        PermitGrant held = other.semaphores().acquire(AcquireRequest.of(names.get(21)));
        StatementGate.Pause commit = node.gate().pauseBeforeCommitOf("insert into permit_request");
        Future<PermitGrant> acquire = Concurrently.async(() -> node.semaphores().acquire(thirtyOf(names)));
        commit.awaitReached(SOON);

        Duration took = timed(() -> {
            held.release();
            other.semaphores().acquire(AcquireRequest.of(names.get(20), names.get(21)));
            cluster.semaphore(1);
            return null;
        });

        commit.open();
        assertThat(Concurrently.get(acquire).permits()).hasSize(30);
        Measurement.check(() -> assertThat(took).isLessThan(WITHOUT_WAITING));
    }

    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void locksTheRowsOfItsSemaphoresAndNoGapWhenItAcquires() throws Exception {
        List<String> names = cluster.semaphores(50, 1);
        AcquireRequest thirty = thirtyOf(names);
        StatementGate.Pause commit = node.gate().pauseBeforeCommitOf("insert into permit_request");
        Future<PermitGrant> acquire = Concurrently.async(() -> node.semaphores().acquire(thirty));
        commit.awaitReached(SOON);

        List<RecordLock> locks = recordLocks();
        commit.open();
        Concurrently.get(acquire);

        assertThat(locks).allSatisfy(lock -> assertThat(lock.mode()).endsWith(",REC_NOT_GAP"));
        assertThat(locks)
                .filteredOn(lock -> lock.table().equals("semaphore"))
                .containsExactlyInAnyOrderElementsOf(
                        thirty.permits().keySet().stream().map(this::rowOf).toList());
    }

    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void locksNoGapWhenItTakesBackWhatHasExpired() throws Exception {
        String name = cluster.semaphore(1);
        cluster.expire(node.semaphores().acquire(AcquireRequest.of(name)).externalId());
        StatementGate.Pause commit = node.gate().pauseBeforeCommitOf("update permit_request");
        Future<PermitGrant> acquire = Concurrently.async(() -> node.semaphores().acquire(AcquireRequest.of(name)));
        commit.awaitReached(SOON);

        List<RecordLock> locks = recordLocks();
        commit.open();
        Concurrently.get(acquire);

        assertThat(locks).allSatisfy(lock -> assertThat(lock.mode()).endsWith(",REC_NOT_GAP"));
        assertThat(locks).filteredOn(lock -> lock.table().equals("semaphore")).containsExactly(rowOf(name));
        assertThat(locks).extracting(RecordLock::table).contains("permit_request", "permit");
    }

    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void locksNoSemaphoreAndNoGapWhenItReleases() throws Exception {
        String name = cluster.semaphore(1);
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));
        StatementGate.Pause commit = node.gate().pauseBeforeCommitOf("update permit_request");
        Future<ReleaseOutcome> release = Concurrently.async(grant::release);
        commit.awaitReached(SOON);

        List<RecordLock> locks = recordLocks();
        commit.open();
        Concurrently.get(release);

        assertThat(locks).allSatisfy(lock -> assertThat(lock.mode()).endsWith(",REC_NOT_GAP"));
        assertThat(locks).extracting(RecordLock::table).containsOnly("permit_request", "permit");
    }

    /** The even ones of fifty but for the 21st, and some more. */
    private static AcquireRequest thirtyOf(List<String> names) {
        return AcquireRequest.of(IntStream.range(0, 50)
                .filter(i -> i != 20 && i != 21)
                .filter(i -> i % 2 == 0 || i > 37)
                .limit(30)
                .mapToObj(names::get)
                .toArray(String[]::new));
    }

    private static Duration timed(Callable<? extends @Nullable Object> task) throws Exception {
        long begin = System.nanoTime();
        task.call();
        return Duration.ofNanos(System.nanoTime() - begin);
    }

    private RecordLock rowOf(String name) {
        Long id = cluster.schema().jdbc().queryForObject("select id from semaphore where name = ?", Long.class, name);
        return new RecordLock("semaphore", "PRIMARY", "X,REC_NOT_GAP", String.valueOf(id));
    }

    private static List<RecordLock> recordLocks() {
        return cluster.schema()
                .jdbc()
                .query(
                        "select object_name, index_name, lock_mode, lock_data from performance_schema.data_locks"
                                + " where object_schema = ? and lock_type = 'RECORD'",
                        (row, number) ->
                                new RecordLock(row.getString(1), row.getString(2), row.getString(3), row.getString(4)),
                        cluster.schema().name());
    }

    private record RecordLock(String table, String index, String mode, String data) {}
}
