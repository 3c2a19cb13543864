package io.dbsemaphore.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Clustered;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.cluster.GroupReplication;
import io.dbsemaphore.testing.cluster.MultiPrimary;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.PrimaryNodes;
import io.dbsemaphore.testing.rerun.Promise;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.dao.CannotAcquireLockException;

/**
 * Never over capacity where three servers are written to, of which none knows the row locks of the others: what a grant
 * writes to the row of its semaphore lets the later one of two fail at its commit.
 */
@Clustered
@Promise
class GroupReplicationIntegrationTests {

    private static final int ACQUIRES = 900;
    private static final int CAPACITY = 8;
    /** Statements are sent one by one, so that each can be changed. */
    private static final SemaphoreSettings ONE_BY_ONE =
            TestSettings.defaults().with(SemaphoreSettings.PIPELINING, false);

    @RegisterExtension
    private static final PrimaryNodes<GroupReplication> GROUP = PrimaryNodes.onGroupReplication();

    private List<Node> nodes = List.of();

    @Test
    void grantsTheCapacityAndNoMoreOverAllNodes() {
        nodes = GROUP.start();
        String small = GROUP.semaphore(CAPACITY);
        String other = GROUP.semaphore(CAPACITY + 1);
        long conflicts = GROUP.servers().conflicts();
        GaleraRace race = new GaleraRace(nodes, small, CAPACITY, other, CAPACITY + 1);

        race.run(ACQUIRES); // no caller sees an exception: a conflict is tried again

        assertThat(race.peaks().get(small)).isEqualTo(CAPACITY);
        assertThat(race.peaks().get(other)).isBetween(1, CAPACITY + 1);
        assertThat(GROUP.servers().conflicts())
                .as("conflicts between the nodes")
                .isGreaterThan(conflicts);
        GROUP.servers().awaitInSync();
        for (Node node : nodes) {
            Optional<PermitGrant> all =
                    node.semaphores().tryAcquire(AcquireRequest.of(small, other).exclusive());
            assertThat(all).as("all that there is").isPresent();
            all.get().release();
            GROUP.servers().awaitInSync();
        }
    }

    @Test
    void callersOfTwoSemaphoresInOppositeOrdersSeeNoConflict() {
        nodes = GROUP.start();
        List<String> names = Stream.generate(() -> GROUP.semaphore(2)).limit(4).toList();
        long conflicts = GROUP.servers().conflicts();
        ConflictingCallers callers = new ConflictingCallers(nodes.get(0), nodes.get(1));

        callers.acquireInOppositeOrders(names, 10);
        int granted = callers.tryInOppositeOrders(names, 20);

        Measurement.check(() -> {
            assertThat(granted).isPositive();
            assertThat(GROUP.servers().conflicts())
                    .as("conflicts between the nodes")
                    .isGreaterThan(conflicts);
        });
    }

    @Test
    void callersWithOneExternalIdSeeNoConflict() {
        nodes = GROUP.start();
        String name = GROUP.semaphore(2);
        long conflicts = GROUP.servers().conflicts();
        ConflictingCallers callers = new ConflictingCallers(nodes.get(0), nodes.get(1));

        for (int round = 0; round < 10 || round < 100 && GROUP.servers().conflicts() == conflicts; round++) {
            callers.acquireWithOneExternalId(name, name + "-" + round);
        }

        Measurement.check(() -> assertThat(GROUP.servers().conflicts())
                .as("conflicts between the nodes")
                .isGreaterThan(conflicts));
    }

    @Test
    void refusesWhatAnotherServerHasGrantedUnseen() throws SQLException {
        nodes = GROUP.start(pool -> pool, ONE_BY_ONE);
        AcquireRequest request = AcquireRequest.of(GROUP.semaphore(1));
        try (MultiPrimary.Brake brake = GROUP.servers().holdBack(0)) {
            assertThat(nodes.get(1).semaphores().tryAcquire(request)).isPresent();

            assertThatThrownBy(() -> nodes.get(0).semaphores().tryAcquire(request))
                    .isInstanceOf(CannotAcquireLockException.class)
                    .rootCause()
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            certification ->
                                    assertThat(certification.getErrorCode()).isEqualTo(3101));
        }
        GROUP.servers().awaitInSync();
        assertThat(nodes.get(0).semaphores().tryAcquire(request)).isEmpty();
    }

    /** What the fence is written for: without that, nothing of what the two servers write is compared. */
    @Test
    void withoutTheFenceWriteTwoServersGrantTheOnlyPermit() throws SQLException {
        nodes = GROUP.start(WithoutFenceWrites::new, ONE_BY_ONE);
        AcquireRequest request = AcquireRequest.of(GROUP.semaphore(1));
        try (MultiPrimary.Brake brake = GROUP.servers().holdBack(0)) {
            assertThat(nodes.get(1).semaphores().tryAcquire(request)).isPresent();

            assertThat(nodes.get(0).semaphores().tryAcquire(request)).isPresent();
        }
    }
}
