package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.tuple;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.PermitsExceedCapacityException;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What a capacity means while it is changed, and that an acquire over several semaphores gets all or nothing. */
@Promise
class CapacityIntegrationTests {

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private final Node node = cluster.node(0);
    private final Node other = cluster.node(1);

    @Test
    void loweredBelowWhatIsHeldDrains() {
        String name = cluster.semaphore(3);
        List<PermitGrant> grants = IntStream.range(0, 3)
                .mapToObj(i -> cluster.node(i).semaphores().acquire(AcquireRequest.of(name)))
                .toList();

        node.admin().setCapacity(name, 1, "operator", "too many");

        assertThat(other.admin().find(name)).contains(new SemaphoreStatus(name, 1, 3, 0, 3));
        assertThat(grants).extracting(PermitGrant::isHeld).containsOnly(true);
        for (PermitGrant grant : grants) {
            assertThat(other.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
            grant.release();
        }
        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(name))).isPresent();
        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
    }

    @Test
    void raisedIsThereForTheNextAcquireEverywhere() {
        String name = cluster.semaphore(1);
        other.semaphores().acquire(AcquireRequest.of(name));
        assertThatExceptionOfType(PermitsExceedCapacityException.class)
                .isThrownBy(() ->
                        other.semaphores().tryAcquire(AcquireRequest.of(name).withPermits(name, 2)));

        node.admin().setCapacity(name, 3, "operator", "more of them");

        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(name).withPermits(name, 2)))
                .isPresent();
    }

    @Test
    void zeroPausesAndMayBeWaitedFor() throws Exception {
        String name = cluster.semaphore(1);
        node.admin().setCapacity(name, 0, "operator", "maintenance");

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(
                        () -> other.semaphores().acquire(AcquireRequest.of(name).withPermits(name, 2)))
                .withMessageContaining("Semaphore '%s' is paused: 0 of 0 held. Nothing was acquired", name)
                .satisfies(e ->
                        assertThat(e.shortages()).containsExactly(new PermitShortage(name, 0, 0, 2, Optional.empty())));
        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(
                        () -> other.semaphores().acquire(AcquireRequest.of(name).exclusive()))
                .withMessageContaining("Semaphore '%s' is paused: 0 of 0 held. Nothing was acquired", name);

        StatementGate.Pause refused = other.gate().pauseAfter("commit");
        Future<PermitGrant> waiter = Concurrently.async(() -> other.semaphores()
                .acquire(AcquireRequest.of(name).withPermits(name, 2).withWaitTime(Duration.ofSeconds(30))));
        refused.awaitReached(Duration.ofSeconds(20));
        refused.open();
        Concurrently.assertWaits(waiter);
        node.admin().setCapacity(name, 2, "operator", "maintenance is over");

        assertThat(Concurrently.get(waiter).permits()).containsEntry(name, 2);
    }

    @Test
    void leavesATraceOfEachChangeThatOutlivesTheSemaphore() {
        String name = cluster.semaphore(1);
        node.admin().setCapacity(name, 5, "alice", "more of them");
        node.admin().setCapacity(name, 5, "bob", "no change");
        other.admin().setCapacity(name, 0, "carol", "maintenance");
        node.admin().delete(name);

        assertThat(other.admin().capacityHistory(name))
                .extracting(CapacityChange::from, CapacityChange::to, CapacityChange::changedBy, CapacityChange::reason)
                .containsExactly(tuple(5, 0, "carol", "maintenance"), tuple(1, 5, "alice", "more of them"));
    }

    @Test
    void allOrNothingOverSeveralNames() {
        List<String> names = cluster.semaphores(3, 2);
        PermitGrant inTheWay =
                other.semaphores().acquire(AcquireRequest.of(names.get(1)).withPermits(names.get(1), 2));
        Map<String, List<Map<String, Object>>> before = cluster.rows();

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(names.toArray(String[]::new))))
                .satisfies(e -> assertThat(e.shortages())
                        .containsExactly(new PermitShortage(names.get(1), 2, 2, 1, inTheWay.expiresAt())));
        assertThatExceptionOfType(SemaphoreNotFoundException.class)
                .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(names.get(0), "nowhere")));
        assertThatExceptionOfType(PermitsExceedCapacityException.class)
                .isThrownBy(() -> node.semaphores()
                        .acquire(AcquireRequest.of(names.get(0)).withPermits(names.get(2), 3)));

        assertThat(cluster.rows()).isEqualTo(before);
    }

    @Test
    void aRefusalNamesEverySemaphoreWithTooFewPermits() {
        List<String> names = cluster.semaphores(3, 1);
        other.semaphores().acquire(AcquireRequest.of(names.get(0)).withTtl(Duration.ofMinutes(1)));
        other.semaphores().acquire(AcquireRequest.of(names.get(2)).withoutTtl());

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(names.toArray(String[]::new))))
                .withMessageContainingAll(names.get(0), names.get(2), "1 of 1 held")
                .satisfies(e -> {
                    assertThat(e.shortages())
                            .extracting(PermitShortage::name)
                            .containsExactlyInAnyOrder(names.get(0), names.get(2));
                    assertThat(e.earliestExpiry()).isEmpty();
                });
    }
}
