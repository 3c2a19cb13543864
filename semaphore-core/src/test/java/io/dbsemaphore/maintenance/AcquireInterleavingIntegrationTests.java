package io.dbsemaphore.maintenance;

import static io.dbsemaphore.maintenance.Instances.SOON;
import static io.dbsemaphore.testing.Concurrently.async;
import static io.dbsemaphore.testing.Concurrently.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestSettings;
import java.time.Duration;
import java.util.Optional;
import java.util.Set;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What an acquire and its repetition meet at the worst moment: a release, a clean-up, a change of the capacity. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AcquireInterleavingIntegrationTests extends InterleavingFixture {

    private static final String REQUEST_INSERTED = "insert into permit_request";

    /** Where the driver pipelines, the lock is a statement of its own; elsewhere it is the query of the repository. */
    private static final String SEMAPHORE_LOCKED =
            Set.of(DatabaseKind.MYSQL, DatabaseKind.POSTGRESQL).contains(TestDatabase.kind())
                            && TestSettings.pipelining()
                    ? "from semaphore s where s.id = ? for update"
                    : "from semaphore s1_0 where s1_0.id=? for";

    // Release against the commit of its acquire

    @Test
    void releaseBeforeTheCommitOfItsAcquireFindsNothingAndLosesNothing() throws Exception {
        String name = instances.semaphore(1);
        Pause granting = holder.gate().pauseBeforeCommitOf(REQUEST_INSERTED);
        Future<PermitGrant> acquire = async(() -> holder.semaphores().acquire(request(name)));
        granting.awaitReached(SOON);

        assertThat(get(async(() -> sweeper.semaphores().release(id)))).isEqualTo(ReleaseOutcome.NOT_FOUND);
        assertThat(get(async(() -> holder.semaphores().release(id)))).isEqualTo(ReleaseOutcome.NOT_FOUND);
        assertThat(get(async(() -> sweeper.admin().forceRelease(id, "operator", "stuck"))))
                .isEqualTo(ReleaseOutcome.NOT_FOUND);
        assertThat(get(async(sweeper.maintenance()::releaseOrphans))).isZero();
        granting.open();

        PermitGrant grant = get(acquire);
        assertHeld(name, grant);
        assertThat(sweeper.admin().capacityHistory(name)).isEmpty();
        assertThat(sweeper.semaphores().release(id)).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(grant.release()).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertReleased(name);
    }

    @Test
    void acquireThatSummedBeforeAReleaseIsNeverOverCapacity() throws Exception {
        String name = instances.semaphore(1);
        PermitGrant first = holder.semaphores().acquire(AcquireRequest.of(name));
        Pause summed = sweeper.gate().pauseAfter("select coalesce(sum(p.count)");
        Future<Optional<PermitGrant>> acquire = async(() -> sweeper.semaphores().tryAcquire(request(name)));
        summed.awaitReached(SOON);

        first.release();
        summed.open();

        assertThat(get(acquire)).isEmpty();
        assertHeld(name, sweeper.semaphores().acquire(request(name)));
    }

    // Clean-up against a repetition of the same external id

    @Test
    void repetitionDuringItsCleanUpIsNotGrantedTwice() throws Exception {
        String name = instances.semaphore(2);
        holder.semaphores().acquire(request(name)).release();
        instances.makeOld(id, Duration.ofDays(8));
        Pause cleaning = sweeper.gate().pauseBeforeCommitOf("delete");
        Future<Integer> cleanUp = async(sweeper.maintenance()::deleteReleasedRequests);
        cleaning.awaitReached(SOON);

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> get(async(() -> holder.semaphores().acquire(request(name)))))
                .withCauseInstanceOf(RequestAlreadyReleasedException.class);
        cleaning.open();

        assertThat(get(cleanUp)).isEqualTo(1);
        assertThat(instances.states(id)).isEmpty();
        PermitGrant forgotten = holder.semaphores().acquire(request(name));
        assertThat(forgotten.isReplayed()).isEqualTo(false);
        assertHeld(name, forgotten);
    }

    @Test
    void repetitionThatReadItsRequestBeforeTheCleanUpIsRefused() throws Exception {
        String name = instances.semaphore(2);
        holder.semaphores().acquire(request(name)).release();
        instances.makeOld(id, Duration.ofDays(8));
        Pause read = holder.gate().pauseAfter("where r.external_id in");
        Future<PermitGrant> repetition = async(() -> holder.semaphores().acquire(request(name)));
        read.awaitReached(SOON);

        assertThat(sweeper.maintenance().deleteReleasedRequests()).isEqualTo(1);
        read.open();

        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> get(repetition))
                .withCauseInstanceOf(RequestAlreadyReleasedException.class);
        assertThat(instances.states(id)).isEmpty();
        assertThat(instances.held(name)).isZero();
    }

    @Test
    void cleanUpLeavesAnOldGrantThatIsBeingRepeated() throws Exception {
        String name = instances.semaphore(1);
        holder.semaphores().acquire(request(name));
        instances.makeOld(id, Duration.ofDays(8));
        Pause renewing = holder.gate().pauseBeforeCommitOf(REQUEST_RENEWED);
        Future<PermitGrant> repetition = async(() -> holder.semaphores().acquire(request(name)));
        renewing.awaitReached(SOON);

        assertThat(get(async(sweeper.maintenance()::deleteReleasedRequests))).isZero();
        renewing.open();

        assertHeld(name, get(repetition));
    }

    // Resize against acquire

    @Test
    void capacityThatIsLoweredDuringAnAcquireDrains() throws Exception {
        String name = instances.semaphore(2);
        PermitGrant early = holder.semaphores().acquire(AcquireRequest.of(name));
        Pause granting = holder.gate().pauseBeforeCommitOf(REQUEST_INSERTED);
        Future<PermitGrant> acquire = async(() -> holder.semaphores().acquire(request(name)));
        granting.awaitReached(SOON);
        Future<Boolean> resize = async(() -> setCapacity(name, 1));
        awaitSent(sweeper.gate(), SEMAPHORE_LOCKED);
        assertThat(instances.number("select capacity from semaphore where name = ?", name))
                .isEqualTo(2);

        granting.open();

        PermitGrant late = get(acquire);
        get(resize);
        assertHeld(late);
        assertHeld(early);
        assertThat(instances.held(name)).isEqualTo(2);
        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> holder.semaphores().acquire(AcquireRequest.of(name)));
        late.release();
        assertThat(holder.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
        early.release();
    }

    @Test
    void acquireThatWaitsForALowerCapacityObeysIt() throws Exception {
        String name = instances.semaphore(2);

        assertThat(tryAcquireBesideOneDuringAResize(name, 1)).isEmpty();

        assertThat(instances.held(name)).isEqualTo(1);
    }

    @Test
    void acquireThatWaitsForAHigherCapacityHasIt() throws Exception {
        String name = instances.semaphore(1);

        assertHeld(tryAcquireBesideOneDuringAResize(name, 2).orElseThrow());

        assertThat(instances.held(name)).isEqualTo(2);
    }

    /** Acquires one permit, and then a second one, which waits for a change of the capacity to commit. */
    private Optional<PermitGrant> tryAcquireBesideOneDuringAResize(String name, int capacity) throws Exception {
        holder.semaphores().acquire(AcquireRequest.of(name));
        Pause resizing = sweeper.gate().pauseBeforeCommitOf("insert into capacity_change");
        Future<Boolean> resize = async(() -> setCapacity(name, capacity));
        resizing.awaitReached(SOON);
        holder.gate().clear();
        Future<Optional<PermitGrant>> acquire = async(() -> holder.semaphores().tryAcquire(request(name)));
        awaitSent(holder.gate(), SEMAPHORE_LOCKED);

        resizing.open();

        get(resize);
        return get(acquire);
    }

    private boolean setCapacity(String name, int capacity) {
        sweeper.admin().setCapacity(name, capacity, "operator", "test");
        return true;
    }
}
