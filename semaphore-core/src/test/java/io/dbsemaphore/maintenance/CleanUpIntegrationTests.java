package io.dbsemaphore.maintenance;

import static io.dbsemaphore.testing.Concurrently.async;
import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.LoggedWarnings;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.function.BooleanSupplier;
import java.util.stream.LongStream;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Rows that are deleted after their retention, without effect on callers. */
@Slow
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CleanUpIntegrationTests {

    private static final int BATCH = 800;
    private static final Duration WEEK = Duration.ofDays(7);

    @RegisterExtension
    static final Instances instances = new Instances(Instances.inBatchesOf(BATCH));

    private final Node cleaner = instances.first();
    private final Node worker = instances.second();

    @AfterEach
    void leavesEverythingConsistent() {
        instances.assertConsistentAfterMaintenance();
    }

    @Measured
    @Test
    void removesAHundredThousandWhileOthersAcquireAndRelease() throws Exception {
        int backlog = 100_000;
        List<String> names =
                Stream.generate(() -> instances.semaphore(4)).limit(4).toList();
        List<PermitGrant> live = names.stream()
                .map(name -> worker.semaphores().acquire(AcquireRequest.of(name).withTtl(Duration.ofHours(1))))
                .toList();
        new Backlog(instances).addReleased(names, backlog / names.size(), WEEK.plusHours(1));
        Duration warmUp = Duration.ofSeconds(1);
        work(names, deadline(warmUp));
        long[] isolated = work(names, deadline(Duration.ofSeconds(4)));
        cleaner.gate().clear();

        long begin = System.nanoTime();
        Future<Integer> cleanUp = async(cleaner.maintenance()::deleteReleasedRequests);
        long[] during = work(names, () -> !cleanUp.isDone());
        Duration took = Duration.ofNanos(System.nanoTime() - begin);

        assertThat(cleanUp.get(1, TimeUnit.SECONDS)).isEqualTo(backlog);
        assertThat(instances.number(
                        "select count(*) from permit_request where external_id like ?", Backlog.PREFIX + "%"))
                .isZero();
        assertThat(instances.number("select count(*) from permit where permit_request_id between 1000000 and 1100000"))
                .isZero();
        live.forEach(
                grant -> assertThat(grant.renew(Duration.ofHours(1)).isHeld()).isEqualTo(true));
        assertThat(during.length).as("acquires during the clean-up").isPositive();
        assertEachBatchIsATransactionOfItsOwn(backlog / BATCH);
        Measurement.check(() -> assertThat(Duration.ofNanos(during[during.length - 1]))
                .as(
                        "the slowest acquire during the clean-up of %s, with a lock wait timeout of 5 s: %s; without it: %s",
                        took, describe(during), describe(isolated))
                .isLessThan(Duration.ofSeconds(5)));
    }

    /** What was executed, by transactions that were committed. */
    private List<List<String>> transactions() {
        Map<Integer, List<String>> open = new HashMap<>();
        List<List<String>> committed = new ArrayList<>();
        cleaner.gate().executions().forEach(executed -> {
            open.computeIfAbsent(executed.connection(), connection -> new ArrayList<>())
                    .add(executed.sql());
            if (executed.sql().equals("commit")) {
                committed.add(open.remove(executed.connection()));
            } else if (executed.sql().equals("rollback")) {
                open.remove(executed.connection());
            }
        });
        return committed;
    }

    private void assertEachBatchIsATransactionOfItsOwn(int batches) {
        List<List<String>> deletes = transactions().stream()
                .filter(statements -> statements.stream().anyMatch(sql -> sql.startsWith("delete")))
                .toList();
        assertThat(deletes).hasSizeGreaterThanOrEqualTo(batches).allSatisfy(statements -> {
            List<String> deleting =
                    statements.stream().filter(sql -> sql.startsWith("delete")).toList();
            assertThat(deleting).hasSize(2);
            assertThat(deleting.get(0)).contains("permit_request_id in");
            assertThat(deleting.get(1)).contains("permit_request").contains("state='RELEASED'");
            assertThat(deleting)
                    .allSatisfy(
                            sql -> assertThat(sql.chars().filter(c -> c == '?').count())
                                    .isBetween(1L, (long) BATCH));
        });
    }

    /** The permits of a semaphore that is there are freed long before, by the release of orphans. */
    @Test
    void freesWhatIsHalfReleasedAndWhoseSemaphoreIsDeleted() {
        String name = instances.semaphore(10);
        String half = released(name, WEEK.plusMinutes(2));
        String whole = released(name, WEEK.plusMinutes(1));
        cleaner.admin().delete(name);
        setPermitState(half, "ACQUIRED");
        cleaner.maintenance().releaseOrphans();

        assertThat(cleaner.maintenance().deleteReleasedRequests()).isEqualTo(2);

        assertThat(instances.states(half)).isEmpty();
        assertThat(instances.states(whole)).isEmpty();
        instances.assertRequestsAndPermitsAgree();
    }

    @Test
    void leavesYoungerOnesAndWhatIsHeld() {
        String name = instances.semaphore(10);
        String old = released(name, WEEK.plusMinutes(1));
        String young = released(name, WEEK.minusMinutes(1));
        String held = acquired(name, WEEK.multipliedBy(10));

        assertThat(cleaner.maintenance().deleteReleasedRequests()).isEqualTo(1);

        assertThat(instances.states(old)).isEmpty();
        assertThat(instances.states(young)).containsExactly("RELEASED");
        assertThat(instances.states(held)).containsExactly("ACQUIRED");
        assertThat(instances.held(name)).isEqualTo(1);
        assertThat(worker.semaphores().find(held)).isPresent();
        assertThat(cleaner.maintenance().deleteReleasedRequests()).isZero();
    }

    /** It is the release that counts, not when it was acquired. */
    @Test
    void leavesWhatWasHeldForLongAndReleasedNow() {
        String name = instances.semaphore(1);
        String id = acquired(name, WEEK.multipliedBy(10));
        cleaner.semaphores().release(id);

        assertThat(cleaner.maintenance().deleteReleasedRequests()).isZero();

        assertThat(instances.states(id)).containsExactly("RELEASED");
    }

    @Test
    void logsNoWarningOfHibernate() {
        String name = instances.semaphore(2);
        String unused = released(name, WEEK.plusMinutes(1));
        cleaner.admin().setCapacity(name, 1, "operator", "less");
        changedAgo("less", Duration.ofDays(300));

        List<String> warnings = LoggedWarnings.of("org.hibernate", () -> {
            assertThat(cleaner.maintenance().deleteReleasedRequests()).isEqualTo(1);
            assertThat(cleaner.maintenance().deleteCapacityHistory()).isEqualTo(1);
        });

        assertThat(warnings).isEmpty();
    }

    @Test
    void forgetsTheHistoryOfCapacitiesAfterItsRetention() {
        String name = instances.semaphore(1);
        for (int capacity = 2; capacity <= 5; capacity++) {
            cleaner.admin().setCapacity(name, capacity, "operator", "to " + capacity);
        }
        changedAgo("to 2", Duration.ofDays(300));
        changedAgo("to 3", Duration.ofDays(30).plusMinutes(1));
        changedAgo("to 4", Duration.ofDays(30).minusMinutes(1));

        assertThat(cleaner.maintenance().deleteCapacityHistory()).isEqualTo(2);

        assertThat(cleaner.admin().capacityHistory(name))
                .extracting(change -> change.reason())
                .containsExactly("to 5", "to 4");
        assertThat(cleaner.maintenance().deleteCapacityHistory()).isZero();
    }

    @Test
    void forgetsTheHistoryInBatches() {
        int rows = 2 * BATCH + 1;
        String name = instances.semaphore(1);
        for (int row = 0; row < rows; row++) {
            instances
                    .jdbc()
                    .update(
                            "insert into capacity_change (id, semaphore_name, from_capacity, to_capacity, changed_by, reason,"
                                    + " changed_at) values (?, ?, 1, 2, 'operator', 'old', ?)",
                            row + 1,
                            name,
                            Instances.ago(Duration.ofDays(31)));
        }

        assertThat(cleaner.maintenance().deleteCapacityHistory()).isEqualTo(rows);

        List<List<String>> deletes = transactions().stream()
                .map(statements -> statements.stream()
                        .filter(sql -> sql.startsWith("delete"))
                        .toList())
                .filter(deleting -> !deleting.isEmpty())
                .toList();
        assertThat(deletes)
                .hasSize(3)
                .allSatisfy(deleting -> assertThat(deleting).hasSize(1))
                .allSatisfy(deleting -> assertThat(
                                deleting.get(0).chars().filter(c -> c == '?').count())
                        .isLessThanOrEqualTo(BATCH));
        assertThat(cleaner.admin().capacityHistory(name)).isEmpty();
    }

    private String acquired(String name, Duration age) {
        String id = instances.externalId();
        worker.semaphores().acquire(AcquireRequest.of(name).withExternalId(id).withTtl(Duration.ofDays(1)));
        instances.makeOld(id, age);
        return id;
    }

    private String released(String name, Duration age) {
        String id = instances.externalId();
        worker.semaphores().acquire(AcquireRequest.of(name).withExternalId(id)).release();
        instances.makeOld(id, age);
        return id;
    }

    private static void setPermitState(String externalId, String state) {
        assertThat(instances
                        .jdbc()
                        .update(
                                "update permit set state = ? where permit_request_id ="
                                        + " (select r.id from permit_request r where r.external_id = ?)",
                                state,
                                externalId))
                .isEqualTo(1);
    }

    private static void changedAgo(String reason, Duration age) {
        assertThat(instances
                        .jdbc()
                        .update(
                                "update capacity_change set changed_at = ? where reason = ?",
                                Instances.ago(age),
                                reason))
                .isEqualTo(1);
    }

    /** Acquires and releases by eight threads; how long each acquire took, the shortest first. */
    private long[] work(List<String> names, BooleanSupplier goOn) {
        return Concurrently.call(8, Duration.ofMinutes(3), index -> {
                    LongStream.Builder took = LongStream.builder();
                    AcquireRequest request = AcquireRequest.of(names.get(index % names.size()));
                    while (goOn.getAsBoolean()) {
                        long begin = System.nanoTime();
                        try (PermitGrant grant = worker.semaphores().acquire(request)) {
                            took.add(System.nanoTime() - begin);
                            assertThat(grant.isHeld()).isEqualTo(true);
                        }
                    }
                    return took.build().toArray();
                })
                .stream()
                .flatMapToLong(Arrays::stream)
                .sorted()
                .toArray();
    }

    private static BooleanSupplier deadline(Duration duration) {
        long end = System.nanoTime() + duration.toNanos();
        return () -> System.nanoTime() < end;
    }

    private static String describe(long[] sortedNanos) {
        return sortedNanos.length == 0
                ? "none"
                : "%d, p50 %.1f ms, p99 %.1f ms, max %.1f ms"
                        .formatted(
                                sortedNanos.length,
                                sortedNanos[sortedNanos.length / 2] / 1e6,
                                sortedNanos[(int) (sortedNanos.length * 0.99)] / 1e6,
                                sortedNanos[sortedNanos.length - 1] / 1e6);
    }
}
