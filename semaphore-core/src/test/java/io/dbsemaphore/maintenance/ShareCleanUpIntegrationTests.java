package io.dbsemaphore.maintenance;

import static io.dbsemaphore.testing.Concurrently.async;
import static io.dbsemaphore.testing.Concurrently.get;
import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Rows of shares are deleted a day after they were written, and with their semaphore. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShareCleanUpIntegrationTests {

    private static final int BATCH = 3;
    private static final Duration OLD = Duration.ofDays(1).plusMinutes(1);
    private static final Duration YOUNG = Duration.ofDays(1).minusMinutes(1);
    private static final Duration IDLE = Duration.ofHours(1);

    @RegisterExtension
    static final Instances instances = new Instances(
            Instances.inBatchesOf(BATCH).withPattern("idle:*", 1).with(MaintenanceSettings.PATTERN_IDLE_AFTER, IDLE));

    private final Node cleaner = instances.first();

    @AfterEach
    void leavesEverythingConsistent() {
        instances.assertConsistentAfterMaintenance();
    }

    @Test
    void deletesWhatWasNotWrittenForADay() {
        long one = id(instances.semaphore(1));
        long other = id(instances.semaphore(1));
        for (int tenant = 0; tenant < 2 * BATCH; tenant++) {
            written(one, "tenant" + tenant + "/", OLD);
            written(other, "tenant" + tenant + "/", OLD.plusSeconds(tenant));
        }
        written(one, "young/", YOUNG);
        written(one, "young/key", YOUNG);

        assertThat(cleaner.maintenance().deleteReleasedRequests())
                .as("deleted requests")
                .isZero();

        assertThat(paths(one)).containsExactlyInAnyOrder("young/", "young/key");
        assertThat(paths(other)).isEmpty();
    }

    /** The numbers of the other rows continue from that of the semaphore. */
    @Test
    void leavesTheRowOfASemaphoreWhoseSharesAreWritten() {
        long used = id(instances.semaphore(1));
        long unused = id(instances.semaphore(1));
        written(used, "*", OLD);
        written(used, "acme/", YOUNG);
        written(unused, "*", OLD);
        written(unused, "acme/", OLD);

        cleaner.maintenance().deleteReleasedRequests();

        assertThat(paths(used)).containsExactlyInAnyOrder("*", "acme/");
        assertThat(paths(unused)).isEmpty();
    }

    @Test
    void leavesARowThatIsWrittenMeanwhile() throws Exception {
        long id = id(instances.semaphore(1));
        written(id, "acme/", OLD);
        written(id, "other/", OLD);
        Pause deletion = cleaner.gate().pauseBefore("delete from semaphore_share");
        Future<Integer> cleanUp = async(cleaner.maintenance()::deleteReleasedRequests);
        deletion.awaitReached(Instances.SOON);
        instances
                .jdbc()
                .update(
                        "update semaphore_share set updated_at = ? where share_path = 'acme/'",
                        Instances.ago(Duration.ZERO));

        deletion.open();

        get(cleanUp);
        assertThat(paths(id)).containsExactly("acme/");
    }

    @Test
    void deletesThoseOfADeletedSemaphore() {
        String deleted = instances.semaphore(1);
        long id = id(deleted);
        long other = id(instances.semaphore(1));
        List.of(id, other).forEach(semaphore -> {
            written(semaphore, "*", Duration.ZERO);
            written(semaphore, "acme/", Duration.ZERO);
            written(semaphore, "acme/batch", Duration.ZERO);
        });

        assertThat(cleaner.admin().delete(deleted)).isTrue();

        assertThat(paths(id)).isEmpty();
        assertThat(paths(other)).containsExactlyInAnyOrder("*", "acme/", "acme/batch");
    }

    @Test
    void deletesThoseOfIdleSemaphoresOfPatterns() {
        List<String> names = List.of("idle:1", "idle:2", "idle:used");
        names.forEach(
                name -> cleaner.semaphores().acquire(AcquireRequest.of(name)).release());
        List<Long> ids = names.stream().map(ShareCleanUpIntegrationTests::id).toList();
        ids.forEach(id -> written(id, "acme/", Duration.ZERO));
        instances
                .jdbc()
                .update(
                        "update semaphore set updated_at = ? where name in ('idle:1', 'idle:2')",
                        Instances.ago(IDLE.plusMinutes(1)));

        cleaner.maintenance().deleteReleasedRequests();

        assertThat(instances.number("select count(*) from semaphore where name like 'idle:%'"))
                .isEqualTo(1);
        assertThat(paths(ids.get(0))).isEmpty();
        assertThat(paths(ids.get(1))).isEmpty();
        assertThat(paths(ids.get(2))).containsExactly("acme/");
    }

    private static long id(String name) {
        return instances.number("select id from semaphore where name = ?", name);
    }

    private static void written(long semaphoreId, String path, Duration ago) {
        assertThat(instances
                        .jdbc()
                        .update(
                                "insert into semaphore_share (semaphore_id, share_path, finish, own_finish, keys_time, updated_at)"
                                        + " values (?, ?, 1, 0, 0, ?)",
                                semaphoreId,
                                path,
                                Instances.ago(ago)))
                .isEqualTo(1);
    }

    private static List<String> paths(long semaphoreId) {
        return instances
                .jdbc()
                .queryForList(
                        "select share_path from semaphore_share where semaphore_id = ?", String.class, semaphoreId);
    }
}
