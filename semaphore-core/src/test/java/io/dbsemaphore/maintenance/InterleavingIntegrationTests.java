package io.dbsemaphore.maintenance;

import static io.dbsemaphore.maintenance.Instances.SOON;
import static io.dbsemaphore.testing.Concurrently.async;
import static io.dbsemaphore.testing.Concurrently.get;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.testing.StatementGate.Pause;
import java.time.Duration;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Two concurrent operations on one request, or on one semaphore; one of them is paused at a statement. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class InterleavingIntegrationTests extends InterleavingFixture {

    private static final String CANDIDATES_READ =
            "select r.id from permit_request r where r.state = 'ACQUIRED' and r.id > ? and r.expires_at <=";

    private static final String STALE_READ = "and r.id > ? and r.expires_at is null and r.renewed_at <=";

    /** Of the permits, or of the request. */
    private static final String RELEASED = "set state = 'RELEASED'";

    private static final String REQUEST_RELEASED = "update permit_request set state = 'RELEASED'";

    // Sweep against renewal

    @Test
    void sweepThatReadACandidateBeforeItWasRepeatedTakesNothing() throws Exception {
        String name = instances.semaphore(1);
        holder.semaphores().acquire(request(name));
        instances.expire(id);
        Pause read = sweeper.gate().pauseAfter(CANDIDATES_READ);
        Future<Integer> sweep = async(sweeper.maintenance()::releaseOrphans);
        read.awaitReached(SOON);

        PermitGrant repeated = holder.semaphores().acquire(request(name));
        read.open();

        assertThat(get(sweep)).isZero();
        assertThat(repeated.isReplayed()).isEqualTo(true);
        assertHeld(name, repeated);
        assertThat(sweeper.events().endings(id)).isEmpty();
    }

    @Test
    void sweepThatReadAStaleCandidateBeforeItWasRenewedTakesNothing() throws Exception {
        String name = instances.semaphore(1);
        PermitGrant registered = holder.semaphores()
                .acquire(AcquireRequest.of(name).withExternalId(id).withoutTtl());
        instances.renewedAgo(id, Duration.ofDays(2));
        Pause read = sweeper.gate().pauseAfter(STALE_READ);
        Future<Integer> sweep = async(sweeper.maintenance()::releaseOrphans);
        read.awaitReached(SOON);

        PermitGrant renewed = registered.renew(AN_HOUR);
        read.open();

        assertThat(get(sweep)).isZero();
        assertHeld(name, renewed);
    }

    @Test
    void sweepSkipsWhatIsBeingRenewed() throws Exception {
        String name = instances.semaphore(1);
        holder.semaphores().acquire(request(name));
        instances.expire(id);
        Pause renewing = holder.gate().pauseBeforeCommitOf(REQUEST_RENEWED);
        Future<PermitGrant> repetition = async(() -> holder.semaphores().acquire(request(name)));
        renewing.awaitReached(SOON);

        assertThat(get(async(sweeper.maintenance()::releaseOrphans))).isZero();
        renewing.open();

        assertHeld(name, get(repetition));
        assertThat(sweeper.maintenance().releaseOrphans()).isZero();
        assertHeld(name, get(repetition));
    }

    @Test
    void renewalThatComesWhileASweepTakesItsGrantLearnsThatItIsLost() throws Exception {
        String name = instances.semaphore(1);
        PermitGrant registered = holder.semaphores()
                .acquire(AcquireRequest.of(name).withExternalId(id).withoutTtl());
        instances.renewedAgo(id, Duration.ofDays(2));
        Pause taking = sweeper.gate().pauseBeforeCommitOf(REQUEST_RELEASED);
        Future<Integer> sweep = async(sweeper.maintenance()::releaseOrphans);
        taking.awaitReached(SOON);
        Future<PermitGrant> renewal = async(() -> registered.renew(AN_HOUR));
        awaitSent(holder.gate(), REQUEST_RENEWED);

        taking.open();

        assertThat(get(sweep)).isEqualTo(1);
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> get(renewal))
                .withCauseInstanceOf(PermitLostException.class);
        assertThat(registered.isHeld()).isEqualTo(false);
        assertReleased(name);
    }

    @Test
    void repetitionThatComesWhileASweepTakesItsGrantIsNotGrantedAnew() throws Exception {
        String name = instances.semaphore(1);
        holder.semaphores().acquire(request(name));
        instances.expire(id);
        Pause taking = sweeper.gate().pauseBeforeCommitOf(REQUEST_RELEASED);
        Future<Integer> sweep = async(sweeper.maintenance()::releaseOrphans);
        taking.awaitReached(SOON);
        Future<PermitGrant> repetition = async(() -> holder.semaphores().acquire(request(name)));
        awaitSent(holder.gate(), REQUEST_RENEWED);

        taking.open();

        assertThat(get(sweep)).isEqualTo(1);
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> get(repetition))
                .withCauseInstanceOf(RequestAlreadyReleasedException.class);
        assertReleased(name);
    }

    // Sweep against release

    @Test
    void sweepSkipsWhatIsBeingReleased() throws Exception {
        String name = instances.semaphore(1);
        PermitGrant expired = holder.semaphores().acquire(request(name));
        instances.expire(id);
        Pause releasing = holder.gate().pauseBeforeCommitOf(REQUEST_RELEASED);
        Future<ReleaseOutcome> release = async(expired::release);
        releasing.awaitReached(SOON);

        assertThat(get(async(sweeper.maintenance()::releaseOrphans))).isZero();
        releasing.open();

        assertThat(get(release)).isEqualTo(ReleaseOutcome.RELEASED);
        assertReleased(name);
        assertThat(sweeper.events().endings(id)).isEmpty();
    }

    @Test
    void sweepThatReadACandidateBeforeItsReleaseDoesNotCountIt() throws Exception {
        String name = instances.semaphore(1);
        PermitGrant expired = holder.semaphores().acquire(request(name));
        instances.expire(id);
        Pause read = sweeper.gate().pauseAfter(CANDIDATES_READ);
        Future<Integer> sweep = async(sweeper.maintenance()::releaseOrphans);
        read.awaitReached(SOON);

        assertThat(expired.release()).isEqualTo(ReleaseOutcome.RELEASED);
        read.open();

        assertThat(get(sweep)).isZero();
        assertReleased(name);
        assertThat(sweeper.events().endings(id)).isEmpty();
    }

    @Test
    void releaseThatComesWhileASweepTakesItsGrantSaysSo() throws Exception {
        String name = instances.semaphore(1);
        PermitGrant expired = holder.semaphores().acquire(request(name));
        instances.expire(id);
        Pause taking = sweeper.gate().pauseBeforeCommitOf(REQUEST_RELEASED);
        Future<Integer> sweep = async(sweeper.maintenance()::releaseOrphans);
        taking.awaitReached(SOON);
        Future<ReleaseOutcome> release = async(expired::release);
        awaitSent(holder.gate(), RELEASED);

        taking.open();

        assertThat(get(sweep)).isEqualTo(1);
        assertThat(get(release)).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertReleased(name);
        assertThat(sweeper.events().endings(id)).containsExactly("expired " + id);
        assertThat(holder.events().endings(id)).isEmpty();
    }

    @Test
    void sweepTakesAllPermitsOfARequestOrNone() throws Exception {
        String one = instances.semaphore(1);
        String two = instances.semaphore(3);
        holder.semaphores()
                .acquire(AcquireRequest.of(one)
                        .withPermits(two, 3)
                        .withExternalId(id)
                        .withTtl(AN_HOUR));
        instances.expire(id);

        holder.transaction().executeWithoutResult(status -> {
            holder.jdbc()
                    .queryForList(
                            "select p.id from permit p join semaphore s on s.id = p.semaphore_id where s.name = ? for update",
                            two);

            assertThat(sweeper.maintenance().releaseOrphans()).isZero();
            assertThat(instances.held(one)).isEqualTo(1);
            assertThat(instances.held(two)).isEqualTo(3);
        });

        assertThat(sweeper.maintenance().releaseOrphans()).isEqualTo(1);
        assertReleased(one);
        assertReleased(two);
    }
}
