package io.dbsemaphore.maintenance;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalArgumentException;
import static org.assertj.core.api.Assertions.tuple;
import static org.assertj.core.api.Assertions.within;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.CapacityChange.ForcedRelease;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.admin.SemaphoreInUseException;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.Optional;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What operators do and are shown, while others hold permits. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AdministrationIntegrationTests {

    private static final Duration AN_HOUR = Duration.ofHours(1);

    @RegisterExtension
    static final Instances instances = new Instances(Instances.inBatchesOf(800));

    private final Node operator = instances.first();
    private final Node holder = instances.second();
    private final String id = instances.externalId();

    @AfterEach
    void leavesRequestsAndPermitsConsistent() {
        instances.assertRequestsAndPermitsAgree();
    }

    @Test
    void drainsWhatIsOverALoweredCapacity() {
        String name = instances.semaphore(3);
        PermitGrant two = holder.semaphores()
                .acquire(AcquireRequest.of(name).withPermits(name, 2).withTtl(AN_HOUR));
        PermitGrant one = holder.semaphores().acquire(AcquireRequest.of(name).withTtl(AN_HOUR));

        operator.admin().setCapacity(name, 2, "alice", "one disk is gone");

        assertThat(operator.admin().find(name)).contains(new SemaphoreStatus(name, 2, 3, 0, 2));
        assertThat(two.renew(AN_HOUR).isHeld()).isEqualTo(true);
        assertThat(one.renew(AN_HOUR).isHeld()).isEqualTo(true);
        assertThat(holder.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
        one.release();
        assertThat(holder.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
        two.release();
        assertThat(holder.semaphores().tryAcquire(AcquireRequest.of(name))).isPresent();
        assertThat(operator.admin().find(name)).contains(new SemaphoreStatus(name, 2, 1, 1, 1));
    }

    @Test
    void pausesByACapacityOfZero() {
        String name = instances.semaphore(2);
        PermitGrant held = holder.semaphores().acquire(AcquireRequest.of(name).withTtl(AN_HOUR));

        operator.admin().setCapacity(name, 0, "alice", "maintenance window");

        assertThat(held.renew(AN_HOUR).isHeld()).isEqualTo(true);
        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> holder.semaphores().acquire(AcquireRequest.of(name)))
                .satisfies(refused -> assertThat(refused.shortages())
                        .singleElement()
                        .satisfies(shortage -> assertThat(shortage.capacity()).isZero()));
        assertThat(holder.semaphores().tryAcquire(AcquireRequest.of(name).exclusive()))
                .isEmpty();
        assertThat(operator.admin().find(name)).contains(new SemaphoreStatus(name, 0, 1, 0, 1));
        operator.admin().setCapacity(name, 2, "alice", "done");
        assertThat(holder.semaphores().tryAcquire(AcquireRequest.of(name))).isPresent();
    }

    @Test
    void leavesAnAuditOfEachChange() {
        String name = instances.semaphore(3);

        operator.admin().setCapacity(name, 5, "alice", "a second disk");
        operator.admin().setCapacity(name, 5, "bob", "says the same");
        operator.admin().setCapacity(name, 0, "bob", "pause");

        assertThat(holder.admin().capacityHistory(name))
                .extracting(
                        CapacityChange::name,
                        CapacityChange::from,
                        CapacityChange::to,
                        CapacityChange::changedBy,
                        CapacityChange::reason)
                .containsExactly(tuple(name, 5, 0, "bob", "pause"), tuple(name, 3, 5, "alice", "a second disk"));
        assertThat(holder.admin().capacityHistory(name))
                .allSatisfy(change ->
                        assertThat(change.changedAt()).isCloseTo(Instant.now(), within(1, ChronoUnit.MINUTES)));
    }

    @Test
    void refusesAChangeThatSaysNothing() {
        String name = instances.semaphore(3);

        assertThatIllegalArgumentException()
                .isThrownBy(() -> operator.admin().setCapacity(name, -1, "alice", "why"))
                .withMessageContaining(name)
                .withMessageContaining("-1");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> operator.admin().setCapacity(name, 1, " ", "why"))
                .withMessageContaining("changedBy");
        assertThatIllegalArgumentException()
                .isThrownBy(() -> operator.admin().setCapacity(name, 1, "alice", "x".repeat(1001)))
                .withMessageContaining("reason");
        assertThatExceptionOfType(SemaphoreNotFoundException.class)
                .isThrownBy(() -> operator.admin().setCapacity("unknown", 1, "alice", "why"))
                .withMessageContaining("There is no semaphore named 'unknown'. Nothing was changed. ");

        assertThat(operator.admin().find(name)).map(SemaphoreStatus::capacity).contains(3);
        assertThat(operator.admin().capacityHistory(name)).isEmpty();
    }

    @Test
    void refusesToDeleteWhatIsHeld() {
        String name = instances.semaphore(3);
        PermitGrant held = holder.semaphores()
                .acquire(AcquireRequest.of(name).withPermits(name, 2).withTtl(AN_HOUR));
        operator.admin().setCapacity(name, 1, "alice", "going");

        assertThatExceptionOfType(SemaphoreInUseException.class)
                .isThrownBy(() -> operator.admin().delete(name))
                .satisfies(inUse -> assertThat(inUse.name()).isEqualTo(name))
                .satisfies(inUse -> assertThat(inUse.held()).isEqualTo(2));
        assertThat(held.renew(AN_HOUR).isHeld()).isEqualTo(true);
        held.release();

        assertThat(operator.admin().delete(name)).isEqualTo(true);
        assertThat(operator.admin().find(name)).isEmpty();
        assertThat(operator.admin().delete(name)).isEqualTo(false);
        assertThat(operator.admin().capacityHistory(name))
                .extracting(CapacityChange::reason)
                .containsExactly("going");
        assertThatExceptionOfType(SemaphoreNotFoundException.class)
                .isThrownBy(() -> holder.semaphores().acquire(AcquireRequest.of(name)));
    }

    @Test
    void goesOnAboveTheOldTokensWhenADeletedOneIsMadeAgain() {
        String name = instances.semaphore(1);
        PermitGrant before = holder.semaphores().acquire(AcquireRequest.of(name).withExternalId(id));
        before.release();

        operator.admin().delete(name);
        operator.admin().create(name, 1);

        assertThat(holder.semaphores().acquire(AcquireRequest.of(name)).fencingToken())
                .isGreaterThan(before.fencingToken());
        assertThat(instances.states(id)).containsExactly("RELEASED");
    }

    @Test
    void takesAGrantAwayByForceAndSaysSo() {
        String one = instances.semaphore(1);
        String two = instances.semaphore(4);
        PermitGrant stuck = holder.semaphores()
                .acquire(AcquireRequest.of(one)
                        .withPermits(two, 3)
                        .withOwner("job 7")
                        .withExternalId(id)
                        .withTtl(AN_HOUR));

        assertThat(operator.admin().forceRelease(id, "alice", "its host burns")).isEqualTo(ReleaseOutcome.RELEASED);

        assertThat(instances.states(id)).containsExactly("RELEASED");
        assertThat(instances.held(one) + instances.held(two)).isZero();
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> stuck.renew(AN_HOUR));
        assertThat(stuck.isHeld()).isEqualTo(false);
        assertThat(operator.admin().capacityHistory(two)).singleElement().satisfies(change -> {
            assertThat(change.changedBy()).isEqualTo("alice");
            assertThat(change.from()).isEqualTo(4);
            assertThat(change.to()).isEqualTo(4);
            assertThat(change.reason()).isEqualTo("its host burns");
            assertThat(change.forcedRelease()).contains(new ForcedRelease(id, "job 7", 3));
        });
        operator.admin().setCapacity(one, 2, "bob", "a second disk");
        assertThat(operator.admin().capacityHistory(one))
                .extracting(CapacityChange::forcedRelease)
                .containsExactly(Optional.empty(), Optional.of(new ForcedRelease(id, "job 7", 1)));
        assertThat(operator.events().endings(id)).contains("forced " + id + " by alice: its host burns");
    }

    @Test
    void leavesNoTraceOfAForcedReleaseThatReleasedNothing() {
        String name = instances.semaphore(1);
        holder.semaphores().acquire(AcquireRequest.of(name).withExternalId(id)).release();

        assertThat(operator.admin().forceRelease(id, "alice", "too late")).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertThat(operator.admin().forceRelease("unknown", "alice", "why")).isEqualTo(ReleaseOutcome.NOT_FOUND);
        assertThatIllegalArgumentException().isThrownBy(() -> operator.admin().forceRelease(id, "", "why"));

        assertThat(operator.admin().capacityHistory(name)).isEmpty();
        assertThat(operator.events().endings(id)).isEmpty();
    }

    @Test
    void showsTheHolders() {
        String name = instances.semaphore(10);
        PermitGrant first = holder.semaphores()
                .acquire(AcquireRequest.of(name)
                        .withPermits(name, 3)
                        .withOwner("job 1")
                        .withLabel("Backups.full")
                        .withExternalId(id)
                        .withTtl(AN_HOUR));
        PermitGrant second = operator.semaphores()
                .acquire(AcquireRequest.of(name).withOwner("job 2").withoutTtl());
        holder.semaphores().acquire(AcquireRequest.of(name)).release();

        assertThat(operator.admin().holders(name))
                .containsExactly(
                        new PermitHolder(
                                id,
                                "job 1",
                                Optional.of("Backups.full"),
                                3,
                                first.fencingToken(),
                                first.acquiredAt(),
                                first.expiresAt(),
                                Optional.empty()),
                        new PermitHolder(
                                second.externalId(),
                                "job 2",
                                Optional.empty(),
                                1,
                                second.fencingToken(),
                                second.acquiredAt(),
                                Optional.empty(),
                                Optional.empty()));
        assertThatExceptionOfType(SemaphoreNotFoundException.class)
                .isThrownBy(() -> operator.admin().holders("unknown"))
                .withMessageContaining("There is no semaphore named 'unknown'. Nothing was changed. ");
    }

    @Test
    void listsAllSemaphoresByName() {
        String one = instances.semaphore(1);
        String two = instances.semaphore(5);
        holder.semaphores().acquire(AcquireRequest.of(two).withPermits(two, 2));
        holder.semaphores().acquire(AcquireRequest.of(two));
        holder.semaphores().acquire(AcquireRequest.of(one).exclusive());

        assertThat(operator.admin().list())
                .filteredOn(status -> !status.name().equals(Instances.MAINTENANCE))
                .containsExactlyInAnyOrder(new SemaphoreStatus(one, 1, 1, 0, 1), new SemaphoreStatus(two, 5, 3, 2, 2));
        assertThat(operator.admin().list()).extracting(SemaphoreStatus::name).isSorted();
    }

    @Test
    void createsOnlyWhatIsNotThere() {
        String name = instances.semaphore(3);

        assertThat(operator.admin().create(name, 7)).isEqualTo(false);

        assertThat(operator.admin().find(name)).map(SemaphoreStatus::capacity).contains(3);
        assertThat(operator.admin().find("unknown")).isEmpty();
        assertThatIllegalArgumentException().isThrownBy(() -> operator.admin().create("negative", -1));
        assertThatIllegalArgumentException().isThrownBy(() -> operator.admin().create(" ", 1));
    }
}
