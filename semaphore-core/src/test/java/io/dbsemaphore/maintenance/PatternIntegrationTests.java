package io.dbsemaphore.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.admin.PatternLimitExceededException;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.StatementGate.Executed;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.TreeMap;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Semaphores that are made on first use, and removed when they are no longer used. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PatternIntegrationTests {

    private static final Duration WEEK = Duration.ofDays(7);

    @RegisterExtension
    static final Instances instances = new Instances(Instances.inBatchesOf(800)
            .withPattern("tenant:*", 3)
            .withPattern("tenant:gold:*", 20)
            .withPattern("*:paused", 0)
            .with(SemaphoreSettings.MAX_PATTERN_SEMAPHORES, 100));

    private final Node first = instances.first();
    private final Node second = instances.second();
    private final String tenant = "tenant:" + instances.externalId();

    @AfterEach
    void leavesEverythingConsistent() {
        instances.assertConsistent();
    }

    @Test
    void areMadeOnFirstUse() {
        PermitGrant grant = first.semaphores().acquire(AcquireRequest.of(tenant).withPermits(tenant, 2));

        assertThat(grant.permits()).isEqualTo(Map.of(tenant, 2));
        assertThat(second.admin().find(tenant)).contains(new SemaphoreStatus(tenant, 3, 2, 1, 1));
        assertThat(second.admin().capacityHistory(tenant)).isEmpty();
    }

    @Test
    void areMadeOnceByManyAtTheSameTime() {
        List<Optional<PermitGrant>> grants = Concurrently.call(
                16,
                Duration.ofSeconds(40),
                index -> (index % 2 == 0 ? first : second).semaphores().tryAcquire(AcquireRequest.of(tenant)));

        assertThat(grants).filteredOn(Optional::isPresent).hasSize(3);
        assertThat(instances.number("select count(*) from semaphore where name = ?", tenant))
                .isEqualTo(1);
        assertThat(first.admin().find(tenant)).contains(new SemaphoreStatus(tenant, 3, 3, 0, 3));
    }

    @Test
    void areMadeInATransactionOfTheirOwn() {
        first.transaction().executeWithoutResult(status -> {
            first.semaphores().acquire(AcquireRequest.of(tenant));
            status.setRollbackOnly();
        });

        assertThat(second.admin().find(tenant)).isPresent();
        assertThat(instances.held(tenant)).isEqualTo(1);
    }

    @Test
    void followTheLongestPatternThatMatches() {
        String gold = "tenant:gold:" + instances.externalId();

        first.semaphores().acquire(AcquireRequest.of(gold));

        assertThat(first.admin().find(gold)).map(SemaphoreStatus::capacity).contains(20);
        assertThat(instances.jdbc().queryForObject("select pattern from semaphore where name = ?", String.class, gold))
                .isEqualTo("tenant:gold:*");
    }

    @Test
    void mayBeMadePaused() {
        assertThat(first.semaphores().tryAcquire(AcquireRequest.of("job:paused")))
                .isEmpty();
        assertThat(first.admin().find("job:paused")).contains(new SemaphoreStatus("job:paused", 0, 0, 0, 0));
    }

    @Test
    void keepACapacityThatWasChanged() {
        first.semaphores().acquire(AcquireRequest.of(tenant)).release();
        first.admin().setCapacity(tenant, 1, "alice", "abuse");

        first.semaphores().acquire(AcquireRequest.of(tenant));

        assertThat(second.semaphores().tryAcquire(AcquireRequest.of(tenant))).isEmpty();
        assertThat(first.admin().find(tenant)).contains(new SemaphoreStatus(tenant, 1, 1, 0, 1));
    }

    @Test
    void areNotMadeForNamesThatNothingMatches() {
        assertThatExceptionOfType(SemaphoreNotFoundException.class)
                .isThrownBy(() -> first.semaphores().acquire(AcquireRequest.of("tenants", tenant)))
                .satisfies(unknown -> assertThat(unknown.names()).contains("tenants"));
        assertThatExceptionOfType(SemaphoreNotFoundException.class)
                .isThrownBy(() -> first.semaphores().acquire(AcquireRequest.of("Tenant:a")));

        assertThat(first.admin().find(tenant)).isEmpty();
        assertThat(first.admin().find("tenants")).isEmpty();
    }

    @Test
    void areAcquiredTogetherWithOthers() {
        String declared = instances.semaphore(1);
        String another = tenant + "/b";

        PermitGrant grant = first.semaphores().acquire(AcquireRequest.of(declared, tenant, another));

        assertThat(grant.permits()).isEqualTo(Map.of(declared, 1, tenant, 1, another, 1));
        assertThat(instances.held(declared)).isEqualTo(1);
        assertThat(instances.held(tenant)).isEqualTo(1);
        assertThat(second.semaphores().tryAcquire(AcquireRequest.of(declared, tenant + "/c")))
                .isEmpty();
        assertThat(instances.held(tenant + "/c")).isZero();
    }

    @Test
    void areBoundedInAll() {
        Node narrow = instances.start(Instances.inBatchesOf(800)
                .withPattern("tenant:*", 3)
                .with(SemaphoreSettings.MAX_PATTERN_SEMAPHORES, 2));
        narrow.semaphores().acquire(AcquireRequest.of(tenant));
        narrow.semaphores().acquire(AcquireRequest.of(tenant + "/b"));
        String declared = instances.semaphore(1);

        assertThatExceptionOfType(PatternLimitExceededException.class)
                .isThrownBy(() -> narrow.semaphores().acquire(AcquireRequest.of(declared, tenant + "/c")))
                .withMessageContaining("/c")
                .withMessageContaining("2");

        assertThat(narrow.admin().find(tenant + "/c")).isEmpty();
        assertThat(instances.held(declared)).isZero();
        assertThat(narrow.semaphores().tryAcquire(AcquireRequest.of(tenant))).isPresent();
        assertThat(narrow.semaphores().tryAcquire(AcquireRequest.of(declared))).isPresent();
    }

    @Test
    void areRemovedWhenNoLongerUsed() {
        String held = tenant + "/held";
        String used = tenant + "/used";
        String declared = instances.semaphore(1);
        first.semaphores().acquire(AcquireRequest.of(tenant)).release();
        first.semaphores().acquire(AcquireRequest.of(used)).release();
        first.semaphores().acquire(AcquireRequest.of(declared)).release();
        PermitGrant grant = first.semaphores().acquire(AcquireRequest.of(held).withoutTtl());
        List.of(tenant, held, declared).forEach(name -> lastAcquired(name, WEEK.plusMinutes(1)));
        lastAcquired(used, WEEK.minusMinutes(1));

        first.maintenance().deleteReleasedRequests();

        assertThat(first.admin().find(tenant)).isEmpty();
        assertThat(first.admin().find(used)).isPresent();
        assertThat(first.admin().find(declared)).isPresent();
        assertThat(first.admin().find(held)).contains(new SemaphoreStatus(held, 3, 1, 2, 1));
        assertThat(grant.renew(Duration.ofHours(1)).isHeld()).isEqualTo(true);
    }

    @Test
    void areRemovedAlthoughABatchOfOlderOnesIsHeld() {
        Node narrow = instances.start(Instances.inBatchesOf(3));
        for (int i = 0; i < 4; i++) {
            first.semaphores().acquire(AcquireRequest.of(tenant + "/held/" + i).withTtl(Duration.ofHours(1)));
        }
        for (int i = 0; i < 7; i++) {
            first.semaphores().acquire(AcquireRequest.of(tenant + "/idle/" + i)).release();
        }
        allLastAcquired(WEEK.plusMinutes(1));

        narrow.maintenance().deleteReleasedRequests();

        assertThat(instances.number("select count(*) from semaphore where name like ?", tenant + "/held/%"))
                .isEqualTo(4);
        assertThat(instances.number("select count(*) from semaphore where name like ?", tenant + "/idle/%"))
                .isZero();
    }

    /** Each of these locks is one that an acquire may want. */
    @Slow
    @Test
    void areRemovedWithFewLocksAtOnce() {
        for (int i = 0; i < 60; i++) {
            first.semaphores().acquire(AcquireRequest.of(tenant + "/" + i)).release();
        }
        allLastAcquired(WEEK.plusMinutes(1));
        first.gate().clear();

        first.maintenance().deleteReleasedRequests();

        assertThat(instances.number("select count(*) from semaphore where name like ?", tenant + "/%"))
                .isZero();
        assertThat(mostLocksOfATransaction(first.gate().executions())).isBetween(1, 20);
    }

    private static int mostLocksOfATransaction(List<Executed> executions) {
        Map<Integer, Integer> locksByConnection = new TreeMap<>();
        int most = 0;
        for (Executed executed : executions) {
            if (executed.sql().matches("commit|rollback")) {
                locksByConnection.remove(executed.connection());
            } else if (executed.sql().matches("(?s).*from semaphore s(1_0)? where s(1_0)?\\.id ?= ?\\? for .*")) {
                most = Math.max(most, locksByConnection.merge(executed.connection(), 1, Integer::sum));
            }
        }
        return most;
    }

    @Test
    void areNotRemovedWhileAnOperatorHasPausedThem() {
        first.semaphores().acquire(AcquireRequest.of(tenant)).release();
        first.admin().setCapacity(tenant, 0, "operator", "not paid");
        lastAcquired(tenant, WEEK.plusMinutes(1));

        first.maintenance().deleteReleasedRequests();

        assertThat(second.semaphores().tryAcquire(AcquireRequest.of(tenant))).isEmpty();
    }

    /** Both instances still remember the key of the one that is gone. */
    @Test
    void areMadeAgainWhenTheyWereRemoved() {
        PermitGrant before = first.semaphores().acquire(AcquireRequest.of(tenant));
        before.release();
        second.semaphores().acquire(AcquireRequest.of(tenant)).release();
        lastAcquired(tenant, WEEK.plusMinutes(1));
        first.maintenance().deleteReleasedRequests();
        assertThat(first.admin().find(tenant)).isEmpty();

        PermitGrant after = second.semaphores().acquire(AcquireRequest.of(tenant));

        assertThat(after.fencingToken()).isGreaterThan(before.fencingToken());
        assertThat(first.semaphores().tryAcquire(AcquireRequest.of(tenant).withPermits(tenant, 3)))
                .isEmpty();
        assertThat(instances.held(tenant)).isEqualTo(1);
    }

    private static void allLastAcquired(Duration ago) {
        assertThat(instances
                        .jdbc()
                        .update("update semaphore set updated_at = ? where pattern is not null", Instances.ago(ago)))
                .isPositive();
    }

    private static void lastAcquired(String name, Duration ago) {
        assertThat(instances
                        .jdbc()
                        .update("update semaphore set updated_at = ? where name = ?", Instances.ago(ago), name))
                .isEqualTo(1);
    }
}
