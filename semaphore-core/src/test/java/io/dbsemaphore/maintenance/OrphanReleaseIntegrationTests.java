package io.dbsemaphore.maintenance;

import static io.dbsemaphore.maintenance.Instances.SOON;
import static io.dbsemaphore.testing.Concurrently.async;
import static io.dbsemaphore.testing.Concurrently.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.Liveness;
import io.dbsemaphore.OwnerLiveness;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.config.SemaphorePatterns;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.node.Node;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.ArrayDeque;
import java.util.Arrays;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicReference;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.slf4j.LoggerFactory;

/** The grants that the maintenance reclaims, and those that it keeps. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OrphanReleaseIntegrationTests {

    /** The query by which the sweep, and nothing else, reads expired requests: by key. */
    private static final String SWEEP = "and pr1_0.id>? order by pr1_0.id";

    private static final Duration AN_HOUR = Duration.ofHours(1);

    /** An owner counts as dead when that was said twice, without a pause between. */
    @RegisterExtension
    static final Instances instances = new Instances(Instances.maintenance(800, Duration.ofHours(24), Duration.ZERO));

    private final Node sweeper = instances.first();
    private final Node holder = instances.second();
    private final String name = instances.semaphore(5);
    private final String id = instances.externalId();
    private final String owner = "job of " + id;

    @AfterEach
    void leavesEverythingConsistent() {
        instances.assertConsistent();
        assertThat(instances.held(Instances.MAINTENANCE)).isZero();
    }

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
        Node inPairs = instances.start(Instances.inBatchesOf(2), SemaphorePatterns.NONE);
        List<String> ids = Stream.generate(instances::externalId).limit(5).toList();
        ids.forEach(each -> {
            holder.semaphores().acquire(AcquireRequest.of(name).withExternalId(each));
            instances.expire(each);
        });

        assertThat(inPairs.maintenance().releaseOrphans()).isEqualTo(5);

        assertThat(instances.held(name)).isZero();
        assertThat(inPairs.gate().statements())
                .filteredOn(sql -> sql.contains("set state='RELEASED'") && sql.contains(" in ("))
                .isNotEmpty()
                .allSatisfy(sql ->
                        assertThat(sql.chars().filter(c -> c == '?').count()).isLessThanOrEqualTo(2));
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
        Node willingToWait =
                instances.start(Instances.maintenance(800, Duration.ZERO, Duration.ZERO), SemaphorePatterns.NONE);
        acquire(AcquireRequest.of(name).withoutTtl());
        instances.renewedAgo(id, Duration.ofDays(4000));

        assertThat(willingToWait.maintenance().releaseOrphans()).isZero();

        assertThat(instances.states(id)).containsExactly("ACQUIRED");
        assertThat(willingToWait.gate().count("renewed_at<=")).isZero();
    }

    @Test
    void releasesWhatAnOwnerHoldsThatWasFoundDeadTwice() {
        acquire(AcquireRequest.of(name).withPermits(name, 2).withoutTtl().withOwner(owner));
        String other = instances.externalId();
        holder.semaphores()
                .acquire(AcquireRequest.of(name).withOwner("other job").withExternalId(other));
        sweeper.judgeBy(says(Liveness.DEAD, Liveness.DEAD));

        assertThat(sweeper.maintenance().releaseOrphans()).isZero();
        assertThat(instances.states(id)).containsExactly("ACQUIRED");
        assertThat(sweeper.maintenance().releaseOrphans()).isEqualTo(1);

        assertThat(instances.states(id)).containsExactly("RELEASED");
        assertThat(instances.states(other)).containsExactly("ACQUIRED");
        assertThat(instances.held(name)).isEqualTo(1);
    }

    @Test
    void waitsForTheGraceBetweenTheTwo() {
        Duration grace = Duration.ofMillis(1500);
        Node careful = instances.start(Instances.maintenance(800, Duration.ofHours(24), grace), SemaphorePatterns.NONE);
        acquire(AcquireRequest.of(name).withTtl(AN_HOUR).withOwner(owner));
        careful.judgeBy(always(Liveness.DEAD));
        long firstAsked = System.nanoTime();

        await().atMost(SOON)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(50))
                .until(() -> careful.maintenance().releaseOrphans() == 1);

        assertThat(Duration.ofNanos(System.nanoTime() - firstAsked)).isGreaterThanOrEqualTo(grace);
        assertThat(instances.states(id)).containsExactly("RELEASED");
    }

    @Test
    void beginsAnewWithAnOwnerThatWasFoundAlive() {
        acquire(AcquireRequest.of(name).withTtl(AN_HOUR).withOwner(owner));
        sweeper.judgeBy(
                says(Liveness.DEAD, Liveness.ALIVE, Liveness.DEAD, Liveness.UNKNOWN, Liveness.DEAD, Liveness.DEAD));

        assertThat(sweep(5)).containsExactly(0, 0, 0, 0, 0);
        assertThat(sweep(1)).containsExactly(1);
    }

    @Test
    void reclaimsNothingFromAnOwnerOfUnknownLiveness() {
        acquire(AcquireRequest.of(name).withTtl(AN_HOUR).withOwner(owner));
        sweeper.judgeBy(always(Liveness.UNKNOWN), always(Liveness.UNKNOWN));

        assertThat(sweep(3)).containsExactly(0, 0, 0);
    }

    @Test
    void usesTheFirstKnownLiveness() {
        acquire(AcquireRequest.of(name).withTtl(AN_HOUR).withOwner(owner));

        sweeper.judgeBy(always(Liveness.UNKNOWN), always(Liveness.ALIVE), always(Liveness.DEAD));
        assertThat(sweep(3)).containsExactly(0, 0, 0);

        sweeper.judgeBy(always(Liveness.UNKNOWN), always(Liveness.DEAD), always(Liveness.ALIVE));
        assertThat(sweep(2)).containsExactly(0, 1);
    }

    @Test
    void passesOverAJudgeThatThrows() {
        acquire(AcquireRequest.of(name).withTtl(AN_HOUR).withOwner(owner));
        OwnerLiveness broken = asked -> {
            throw new IllegalStateException("The scheduler cannot be reached");
        };

        List<ILoggingEvent> warnings = warningsOf("io.dbsemaphore.engine.maintenance.DeadOwners", () -> {
            sweeper.judgeBy(broken);
            assertThat(sweep(2)).containsExactly(0, 0);
            sweeper.judgeBy(broken, always(Liveness.DEAD));
            assertThat(sweep(2)).containsExactly(0, 1);
        });
        assertThat(warnings)
                .anySatisfy(warning -> assertThat(warning.getFormattedMessage()).contains(owner));
    }

    @Test
    void mendsMoreThanOneBatchOfWhatWasHalfReleased() {
        Node narrow = instances.start(Instances.inBatchesOf(3), SemaphorePatterns.NONE);
        String wide = instances.semaphore(10);
        for (int i = 0; i < 10; i++) {
            holder.semaphores().acquire(AcquireRequest.of(wide).withTtl(AN_HOUR));
        }
        instances.jdbc().update("update permit_request set state = 'RELEASED' where state = 'ACQUIRED'");

        narrow.maintenance().releaseOrphans();

        assertThat(instances.held(wide)).isZero();
    }

    @Test
    void mendsWhatWasHalfReleasedAndSaysSo() {
        acquire(AcquireRequest.of(name).withPermits(name, 3).withTtl(AN_HOUR));
        String whole = instances.externalId();
        holder.semaphores().acquire(AcquireRequest.of(name).withExternalId(whole));
        instances.jdbc().update("update permit_request set state = 'RELEASED' where external_id = ?", id);
        assertThat(instances.held(name)).isEqualTo(4);

        List<ILoggingEvent> warnings =
                warningsOf("io.dbsemaphore.engine.maintenance.DatabaseSemaphoreMaintenance", () -> {
                    sweeper.maintenance().releaseOrphans();
                    sweeper.maintenance().releaseOrphans();
                });

        assertThat(instances.held(name)).isEqualTo(1);
        assertThat(instances.states(whole)).containsExactly("ACQUIRED");
        assertThat(warnings)
                .singleElement()
                .satisfies(warning -> assertThat(warning.getFormattedMessage()).contains("Freed 1 permit(s)"));
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
        try (Connection outsider = instances.schema().newPool(1).getConnection();
                PreparedStatement lock =
                        outsider.prepareStatement("select id from permit_request where external_id = ? for update")) {
            outsider.setAutoCommit(false);
            lock.setString(1, id);
            lock.executeQuery();
            Pause firstPass = sweeper.gate().pauseAfterCommitOf("update permit_request");
            work = async(sweeper.maintenance()::releaseOrphans);
            firstPass.awaitReached(SOON);
            outsider.rollback();
            firstPass.open();
        }
        assertThat(get(work)).isEqualTo(2);
    }

    @Test
    void endsAfterTheBatchInWhichItWasInterrupted() throws Exception {
        Node narrow = instances.start(Instances.inBatchesOf(3), SemaphorePatterns.NONE);
        String wide = instances.semaphore(9);
        new Backlog(instances).addExpired(List.of(wide), 9);
        Pause firstBatch = narrow.gate().pauseAfterCommitOf("update permit_request");
        AtomicReference<Thread> thread = new AtomicReference<>();
        Future<Boolean> work = async(() -> {
            thread.set(Thread.currentThread());
            narrow.maintenance().releaseOrphans();
            return Thread.interrupted();
        });
        firstBatch.awaitReached(SOON);
        thread.get().interrupt();
        firstBatch.open();

        assertThat(get(work)).as("interrupted").isTrue();
        assertThat(instances.held(wide)).isEqualTo(6);
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

    private PermitGrant acquire(AcquireRequest request) {
        return holder.semaphores().acquire(request.withExternalId(id));
    }

    private List<Integer> sweep(int times) {
        return Stream.generate(sweeper.maintenance()::releaseOrphans)
                .limit(times)
                .toList();
    }

    /** Says this of the owner of these tests, one after the other, and nothing of others. */
    private OwnerLiveness says(Liveness... inOrder) {
        Queue<Liveness> left = new ArrayDeque<>(Arrays.asList(inOrder));
        return asked -> asked.equals(owner) ? left.remove() : Liveness.UNKNOWN;
    }

    private OwnerLiveness always(Liveness liveness) {
        return asked -> asked.equals(owner) ? liveness : Liveness.UNKNOWN;
    }

    private static List<ILoggingEvent> warningsOf(String loggerName, Runnable work) {
        Logger logger = (Logger) LoggerFactory.getLogger(loggerName);
        ListAppender<ILoggingEvent> appender = new ListAppender<>();
        appender.start();
        logger.addAppender(appender);
        logger.setAdditive(false);
        try {
            work.run();
        } finally {
            logger.setAdditive(true);
            logger.detachAppender(appender);
        }
        return appender.list.stream()
                .filter(event -> event.getLevel() == Level.WARN)
                .toList();
    }
}
