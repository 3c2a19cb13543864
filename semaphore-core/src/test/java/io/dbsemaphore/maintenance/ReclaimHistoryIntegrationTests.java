package io.dbsemaphore.maintenance;

import static io.dbsemaphore.maintenance.Instances.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.admin.SemaphoreAdmin.Reclaim;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.StatementGate.Pause;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.dao.DataAccessException;

/** What the library takes back is in the history, from the transaction that takes it back. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReclaimHistoryIntegrationTests extends SweepFixture {

    @Test
    void knowsWhatASweepTakesBack() {
        String other = instances.semaphore(4);
        holder.semaphores()
                .acquire(AcquireRequest.of(name)
                        .withPermits(name, 2)
                        .withPermits(other, 3)
                        .withOwner("nightly-job")
                        .withTtl(AN_HOUR)
                        .withExternalId(id));
        instances.expire(id);

        sweeper.maintenance().releaseOrphans();

        assertThat(holder.admin().reclaims(name, 10))
                .extracting(Reclaim::name, Reclaim::externalId, Reclaim::owner, Reclaim::permits, Reclaim::reason)
                .containsExactly(tuple(name, id, "nightly-job", 2, "Its time to live had passed"));
        assertThat(holder.admin().reclaims(other, 10))
                .extracting(Reclaim::permits)
                .containsExactly(3);
        assertThat(Duration.between(
                        holder.admin().reclaims(name, 10).get(0).reclaimedAt(),
                        holder.admin().now()))
                .isBetween(Duration.ZERO, SOON);
        assertThat(holder.admin().capacityHistory(name)).isEmpty();
    }

    @Test
    void knowsWhatAnAcquireTakesBack() {
        PermitGrant lost = holder.semaphores()
                .acquire(AcquireRequest.of(name)
                        .withPermits(name, 5)
                        .withTtl(AN_HOUR)
                        .withExternalId(id));
        instances.expire(id);

        sweeper.semaphores().acquire(AcquireRequest.of(name)).release();

        assertThat(holder.admin().reclaims(name, 10))
                .extracting(Reclaim::externalId, Reclaim::permits)
                .containsExactly(tuple(id, 5));
        assertThat(lost.release()).isNotNull();
    }

    @Slow
    @Test
    void namesTheInstanceThatIsGone() {
        acquire(AcquireRequest.of(name).withKeepAlive(true).withOwner("copy"));
        instances
                .jdbc()
                .update(
                        "update semaphore_instance set expires_at = ?, heartbeat_at = ?",
                        Instances.ago(AN_HOUR),
                        Instances.ago(AN_HOUR));
        instances.jdbc().update("update permit_request set instance = -1 where external_id = ?", id);

        await().atMost(SOON).until(() -> sweeper.maintenance().releaseOrphans() == 1);

        assertThat(sweeper.admin().reclaims(name, 10))
                .extracting(Reclaim::owner, Reclaim::reason)
                .containsExactly(tuple("copy", "The instance that kept it alive is not registered any more"));
    }

    @Test
    void isWrittenInTheTransactionThatTakesBack() {
        acquire(AcquireRequest.of(name).withTtl(AN_HOUR));
        instances.expire(id);
        sweeper.gate().failBefore("insert into capacity_change", new SQLException("on purpose", "42000", 4711));

        assertThatExceptionOfType(DataAccessException.class)
                .isThrownBy(() -> sweeper.maintenance().releaseOrphans());
        assertThat(instances.states(id)).containsExactly("ACQUIRED");

        assertThat(sweeper.maintenance().releaseOrphans()).isEqualTo(1);
        assertThat(sweeper.admin().reclaims(name, 10)).hasSize(1);
    }

    /** A sweep that finds thousands writes them in a few statements. */
    @Slow
    @Test
    void isWrittenInOneStatementForMany() {
        int many = 1_200;
        String semaphore = expired(many);
        sweeper.gate().clear();

        assertThat(sweeper.maintenance().releaseOrphans()).isEqualTo(many);

        assertThat(sweeper.gate().count("insert into capacity_change")).isLessThanOrEqualTo(4);
        assertThat(sweeper.admin().reclaims(semaphore, 10_000))
                .extracting(Reclaim::externalId)
                .doesNotHaveDuplicates()
                .hasSize(many);
    }

    /** An instance learns of a forced release from the latest entries, whatever is taken back meanwhile. */
    @Slow
    @Test
    void doesNotHideAForcedRelease() throws Exception {
        PermitGrant kept = holder.semaphores()
                .acquire(AcquireRequest.of(name).withKeepAlive(true).withTtl(AN_HOUR));
        expired(150);
        String[] names =
                IntStream.range(0, 100).mapToObj(i -> instances.semaphore(1)).toArray(String[]::new);
        PermitGrant ofMany =
                holder.semaphores().acquire(AcquireRequest.of(names).withTtl(AN_HOUR));
        Pause heartbeat = holder.gate().pauseBefore("from capacity_change");
        heartbeat.awaitReached(SOON);
        sweeper.admin().forceRelease(kept.externalId(), "ada", "it hangs");
        sweeper.admin().forceRelease(ofMany.externalId(), "ada", "this, too");
        assertThat(sweeper.maintenance().releaseOrphans()).isEqualTo(150);

        heartbeat.open();

        await().atMost(Duration.ofSeconds(15)).until(() -> !kept.isHeld());
        assertThat(sweeper.admin().capacityHistory(name)).hasSize(1);
    }

    @Test
    void isForgottenWithTheRequests() {
        acquire(AcquireRequest.of(name).withTtl(AN_HOUR));
        instances.expire(id);
        sweeper.maintenance().releaseOrphans();
        assertThat(instances
                        .jdbc()
                        .update("update capacity_change set changed_at = ?", Instances.ago(Duration.ofDays(6))))
                .isEqualTo(1);
        sweeper.maintenance().deleteReleasedRequests();
        assertThat(sweeper.admin().reclaims(name, 10)).hasSize(1);

        instances.jdbc().update("update capacity_change set changed_at = ?", Instances.ago(Duration.ofDays(31)));
        assertThat(sweeper.maintenance().deleteCapacityHistory()).isZero();
        instances.jdbc().update("update capacity_change set id = ?", oldReclaim());
        sweeper.maintenance().deleteReleasedRequests();
        assertThat(sweeper.admin().reclaims(name, 10)).isEmpty();
    }

    /** The id that an entry of a month ago has. */
    private static long oldReclaim() {
        return Long.MIN_VALUE + 1;
    }

    /** Makes so many requests that have expired. */
    private String expired(int many) {
        String semaphore = instances.semaphore(many);
        List<String> ids = new ArrayList<>();
        IntStream.range(0, many).forEach(number -> {
            String each = instances.externalId();
            ids.add(each);
            holder.semaphores()
                    .acquire(AcquireRequest.of(semaphore).withTtl(AN_HOUR).withExternalId(each));
        });
        instances
                .jdbc()
                .update(
                        "update permit_request set expires_at = ? where expires_at is not null and external_id in ('"
                                + String.join("', '", ids) + "')",
                        Instances.ago(AN_HOUR));
        return semaphore;
    }
}
