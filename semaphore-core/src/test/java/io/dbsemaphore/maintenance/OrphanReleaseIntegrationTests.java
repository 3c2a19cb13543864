package io.dbsemaphore.maintenance;

import static io.dbsemaphore.maintenance.Instances.SOON;
import static io.dbsemaphore.testing.Concurrently.async;
import static io.dbsemaphore.testing.Concurrently.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.spi.Liveness;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** The grants that the maintenance reclaims, and those that it keeps. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OrphanReleaseIntegrationTests extends SweepFixture {

    /** The query by which the sweep, and nothing else, reads expired requests: by key. */
    private static final String SWEEP = "and r.id > ?";

    private final String owner = "job of " + id;

    @Test
    void releasesWhatHasExpiredAndNothingElse() {
        PermitGrant expired = acquire(AcquireRequest.of(name).withTtl(AN_HOUR));
        PermitGrant live = holder.semaphores().acquire(AcquireRequest.of(name).withTtl(AN_HOUR));
        PermitGrant endless =
                holder.semaphores().acquire(AcquireRequest.of(name).withoutTtl());
        instances.expire(id);

        assertThat(sweeper.maintenance().releaseOrphans()).isEqualTo(1);

        assertThat(instances.states(id)).containsExactly("RELEASED");
        assertThat(instances.held(name)).isEqualTo(2);
        assertThat(sweeper.events().endings(id)).containsExactly("expired " + id);
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> expired.renew(AN_HOUR));
        assertThat(live.renew(AN_HOUR).isHeld()).isEqualTo(true);
        assertThat(endless.renew(AN_HOUR).isHeld()).isEqualTo(true);
        assertThat(sweeper.maintenance().releaseOrphans()).isZero();
    }

    @Test
    void releasesMoreThanOneBatch() {
        Node inPairs = instances.start(Instances.inBatchesOf(2));
        List<String> ids = Stream.generate(instances::externalId).limit(5).toList();
        ids.forEach(each -> {
            holder.semaphores().acquire(AcquireRequest.of(name).withExternalId(each));
            instances.expire(each);
        });

        assertThat(inPairs.maintenance().releaseOrphans()).isEqualTo(5);

        assertThat(instances.held(name)).isZero();
        assertThat(inPairs.gate().statements())
                .flatMap(sql -> List.of(sql.split("; ")))
                .filteredOn(sql -> sql.contains("set state = 'RELEASED'") && sql.contains(" in ("))
                .isNotEmpty()
                .map(sql -> sql.replaceAll("(?s).* in \\(([^)]*)\\).*", "$1"))
                .allSatisfy(list ->
                        assertThat(list.chars().filter(c -> c == '?').count()).isBetween(1L, 2L));
    }

    @Test
    void releasesWhatHasNoTimeToLiveOnceItIsStale() {
        acquire(AcquireRequest.of(name).withoutTtl());
        String fresh = instances.externalId();
        holder.semaphores().acquire(AcquireRequest.of(name).withoutTtl().withExternalId(fresh));
        instances.renewedAgo(id, Duration.ofHours(24).plusMinutes(1));
        instances.renewedAgo(fresh, Duration.ofHours(24).minusMinutes(1));

        assertThat(sweeper.maintenance().releaseOrphans()).isEqualTo(1);

        assertThat(instances.states(id)).containsExactly("RELEASED");
        assertThat(instances.states(fresh)).containsExactly("ACQUIRED");
    }

    @Test
    void doesNotTakeForStaleWhatHasATimeToLive() {
        acquire(AcquireRequest.of(name).withTtl(Duration.ofDays(10)));
        instances.renewedAgo(id, Duration.ofDays(9));

        assertThat(sweeper.maintenance().releaseOrphans()).isZero();

        assertThat(instances.states(id)).containsExactly("ACQUIRED");
    }

    @Test
    void takesNothingForStaleWhereThatIsSwitchedOff() {
        Node willingToWait = instances.start(Instances.maintenance(800, Duration.ZERO, Duration.ZERO));
        acquire(AcquireRequest.of(name).withoutTtl());
        instances.renewedAgo(id, Duration.ofDays(4000));

        assertThat(willingToWait.maintenance().releaseOrphans()).isZero();

        assertThat(instances.states(id)).containsExactly("ACQUIRED");
        assertThat(willingToWait.gate().count("renewed_at<=")).isZero();
    }

    @Test
    void worksWhereEachTimeToLiveIsShort() {
        Node brief = instances.start(Instances.inBatchesOf(800)
                .with(SemaphoreSettings.DEFAULT_TTL, Duration.ofSeconds(2))
                .with(SemaphoreSettings.MAX_TTL, Duration.ofSeconds(5)));
        acquire(AcquireRequest.of(name).withTtl(AN_HOUR));
        instances.expire(id);

        assertThat(brief.maintenance().releaseOrphans()).isEqualTo(1);
    }

    @Test
    void waitsForABusinessTransactionThatCheckedItsPermits() {
        PermitGrant checked = acquire(AcquireRequest.of(name).withTtl(AN_HOUR));
        String other = instances.externalId();
        holder.semaphores().acquire(AcquireRequest.of(name).withExternalId(other));

        holder.transaction().executeWithoutResult(status -> {
            holder.semaphores().requireHeld(checked);
            instances.expire(id);
            instances.expire(other);

            assertThat(sweeper.maintenance().releaseOrphans()).isEqualTo(1);
            assertThat(instances.states(id)).containsExactly("ACQUIRED");
            assertThat(instances.states(other)).containsExactly("RELEASED");
        });

        assertThat(sweeper.maintenance().releaseOrphans()).isEqualTo(1);
        assertThat(instances.states(id)).containsExactly("RELEASED");
    }

    @Test
    void isDoneByOneInstanceAtATime() throws Exception {
        acquire(AcquireRequest.of(name).withTtl(AN_HOUR));
        instances.expire(id);
        sweeper.maintenance().releaseOrphans();
        String left = instances.externalId();
        holder.semaphores().acquire(AcquireRequest.of(name).withExternalId(left));
        instances.expire(left);
        Pause atWork = sweeper.gate().pauseBefore(SWEEP);
        Future<Integer> work = async(sweeper.maintenance()::releaseOrphans);
        atWork.awaitReached(SOON);
        holder.gate().clear();

        assertThat(get(async(holder.maintenance()::releaseOrphans))).isZero();
        assertThat(get(async(holder.maintenance()::deleteReleasedRequests))).isZero();
        assertThat(get(async(holder.maintenance()::deleteCapacityHistory))).isZero();
        assertThat(holder.gate().count(SWEEP)).isZero();
        assertThat(holder.gate().count("changed_at<=")).isZero();
        atWork.open();

        assertThat(get(work)).isEqualTo(1);
        assertThat(instances.held(Instances.MAINTENANCE)).isZero();
        assertThat(holder.maintenance().releaseOrphans()).isZero();
    }

    @Test
    void triesRequestsAgainThatWereLockedBriefly() throws Exception {
        acquire(AcquireRequest.of(name).withTtl(AN_HOUR));
        String other = instances.externalId();
        holder.semaphores().acquire(AcquireRequest.of(name).withExternalId(other));
        instances.expire(id);
        instances.expire(other);
        Future<Integer> work;
        Pause firstPass;
        try (RowLock outsider = RowLock.ofRequest(instances.schema(), id)) {
            firstPass = sweeper.gate().pauseAfterCommitOf("update permit_request");
            work = async(sweeper.maintenance()::releaseOrphans);
            firstPass.awaitReached(SOON);
        }
        firstPass.open();
        assertThat(get(work)).isEqualTo(2);
    }

    @Test
    void endsAfterTheBatchInWhichItWasInterrupted() throws Exception {
        Node narrow = instances.start(Instances.inBatchesOf(3));
        String wide = instances.semaphore(9);
        new Backlog(instances).addExpired(List.of(wide), 9);
        List<String> asked = new CopyOnWriteArrayList<>();
        narrow.judgeBy(owner -> {
            asked.add(owner);
            return Liveness.UNKNOWN;
        });
        Pause firstBatch = narrow.gate().pauseAfterCommitOf("update permit_request");
        AtomicReference<Thread> thread = new AtomicReference<>();
        Future<Boolean> work = async(() -> {
            thread.set(Thread.currentThread());
            narrow.maintenance().releaseOrphans();
            return Thread.interrupted();
        });
        firstBatch.awaitReached(SOON);
        narrow.gate().clear();
        thread.get().interrupt();
        firstBatch.open();

        assertThat(get(work)).as("interrupted").isTrue();
        assertThat(instances.held(wide)).isEqualTo(6);
        assertThat(asked).as("code of the application that was called").isEmpty();
        assertThat(narrow.gate().statements())
                .as("further steps")
                .noneMatch(sql -> sql.contains("semaphore_waiter") || sql.contains("from semaphore_instance"));
        assertThat(instances.held(Instances.MAINTENANCE)).isZero();
    }

    @Test
    void givesTheMaintenanceBackWhenItFails() {
        sweeper.judgeBy(asked -> {
            throw new AssertionError("Not an exception that is caught");
        });
        acquire(AcquireRequest.of(name).withOwner(owner));

        assertThatExceptionOfType(AssertionError.class).isThrownBy(sweeper.maintenance()::releaseOrphans);

        assertThat(instances.held(Instances.MAINTENANCE)).isZero();
    }

    @Slow
    @Test
    void takesTenThousandByTwoInstancesAtOnceEachOnlyOnce() {
        int semaphores = 10;
        int each = 1000;
        List<String> names = Stream.generate(() -> instances.semaphore(each + 1))
                .limit(semaphores)
                .toList();
        String live = instances.externalId();
        PermitGrant grant = holder.semaphores()
                .acquire(AcquireRequest.of(names.toArray(String[]::new))
                        .withExternalId(live)
                        .withTtl(AN_HOUR));
        new Backlog(instances).addExpired(names, each);
        sweeper.maintenance().deleteCapacityHistory(); // makes the semaphore of the maintenance
        sweeper.admin().setCapacity(Instances.MAINTENANCE, 2, "test", "both at once");

        List<Integer> released = Concurrently.call(
                2,
                Duration.ofSeconds(90),
                index -> (index == 0 ? sweeper : holder).maintenance().releaseOrphans());

        // each may pass over what the other has locked just then; the next time finds what is left
        int left = sweeper.maintenance().releaseOrphans();
        assertThat(left).isLessThan(each);
        assertThat(released.get(0) + released.get(1) + left).isEqualTo(semaphores * each);
        assertThat(Stream.concat(
                        sweeper.events().endings(Backlog.PREFIX).stream(),
                        holder.events().endings(Backlog.PREFIX).stream()))
                .hasSize(semaphores * each)
                .doesNotHaveDuplicates();
        names.forEach(one -> assertThat(instances.held(one)).isEqualTo(1));
        assertThat(grant.renew(AN_HOUR).isHeld()).isEqualTo(true);
    }
}
