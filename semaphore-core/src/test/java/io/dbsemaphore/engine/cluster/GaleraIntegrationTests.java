package io.dbsemaphore.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Clustered;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.cluster.GaleraCluster;
import io.dbsemaphore.testing.cluster.MultiPrimary;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.PrimaryNodes;
import io.dbsemaphore.testing.node.SemaphoreRows;
import io.dbsemaphore.testing.rerun.Promise;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/**
 * Never over capacity where two servers are written to, of which neither knows the row locks of the other: what a grant
 * writes to the row of its semaphore lets the later one of two fail at its commit. Without that write both are granted.
 */
@Clustered
@Promise
class GaleraIntegrationTests {

    /** With one caller per transaction each acquire has a commit of its own, and most meet the other node. */
    private static final int ACQUIRES = TestSettings.maxBatchSize() > 1 ? 20_000 : 1_000;

    private static final int CAPACITY = 8;

    @RegisterExtension
    private static final PrimaryNodes<GaleraCluster> GALERA = PrimaryNodes.onGalera();

    private List<Node> nodes = List.of();

    @AfterEach
    void resetSyncWait() {
        setSyncWait(0);
    }

    /** For the sessions that are opened from now on. */
    private static void setSyncWait(int syncWait) {
        for (int node = 0; node < GaleraCluster.SIZE; node++) {
            GALERA.servers().schema(node).jdbc().execute("set global wsrep_sync_wait = " + syncWait);
        }
    }

    /** With 7, each statement first waits for what the other node has committed. That does not make a lock known to both. */
    @ParameterizedTest(name = "wsrep_sync_wait={0}")
    @ValueSource(ints = {0, 7})
    void grantsTheCapacityAndNoMoreInTwentyThousandAcquiresOverBothNodes(int syncWait) {
        setSyncWait(syncWait);
        nodes = GALERA.start();
        assertThat(nodes)
                .allSatisfy(node -> assertThat(
                                node.jdbc().queryForObject("select @@session.wsrep_sync_wait", Integer.class))
                        .isEqualTo(syncWait));
        String small = GALERA.semaphore(CAPACITY);
        String other = GALERA.semaphore(CAPACITY + 1);
        long conflicts = GALERA.servers().conflicts();
        GaleraRace race = new GaleraRace(nodes, small, CAPACITY, other, CAPACITY + 1);

        race.run(ACQUIRES);

        assertThat(race.peaks().get(small)).isEqualTo(CAPACITY);
        assertThat(race.peaks().get(other)).isBetween(1, CAPACITY + 1);
        assertThat(GALERA.servers().conflicts())
                .as("conflicts between the nodes")
                .isGreaterThan(conflicts);
        GALERA.servers().awaitInSync();
        for (int node = 0; node < GaleraCluster.SIZE; node++) {
            assertThat(SemaphoreRows.held(GALERA.servers().schema(node), small)).isZero();
            assertThat(SemaphoreRows.held(GALERA.servers().schema(node), other)).isZero();
            Optional<PermitGrant> all = nodes.get(node)
                    .semaphores()
                    .tryAcquire(AcquireRequest.of(small, other).exclusive());
            assertThat(all).as("all that there is, on node %d", node).isPresent();
            all.get().release();
            GALERA.servers().awaitInSync();
        }
    }

    @Test
    void callersOfTwoSemaphoresInOppositeOrdersSeeNoConflict() {
        nodes = GALERA.start();
        List<String> names = Stream.generate(() -> GALERA.semaphore(2)).limit(4).toList();
        long conflicts = GALERA.servers().conflicts();
        ConflictingCallers callers = new ConflictingCallers(nodes.get(0), nodes.get(1));

        callers.acquireInOppositeOrders(names, 10);
        int granted = callers.tryInOppositeOrders(names, 20);

        Measurement.check(() -> {
            assertThat(granted).isPositive();
            assertThat(GALERA.servers().conflicts())
                    .as("conflicts between the nodes")
                    .isGreaterThan(conflicts);
        });
    }

    @Test
    void callersWithOneExternalIdSeeNoConflict() {
        nodes = GALERA.start();
        String name = GALERA.semaphore(2);
        long conflicts = GALERA.servers().conflicts();
        ConflictingCallers callers = new ConflictingCallers(nodes.get(0), nodes.get(1));

        for (int round = 0; round < 10 || round < 100 && GALERA.servers().conflicts() == conflicts; round++) {
            callers.acquireWithOneExternalId(name, name + "-" + round);
        }

        Measurement.check(() -> assertThat(GALERA.servers().conflicts())
                .as("conflicts between the nodes")
                .isGreaterThan(conflicts));
    }

    @Test
    void refusesWhatTheOtherNodeHasGrantedUnseen() throws Exception {
        nodes = GALERA.start();
        Optional<PermitGrant> second = acquireUnseenByOneAnother(GALERA.semaphore(1));

        assertThat(second).isEmpty();
        assertThat(nodes.get(0).gate().count("insert into permit(")).isEqualTo(1);
    }

    @Test
    void withoutTheFenceWriteBothNodesGrantTheOnlyPermit() throws Exception {
        nodes = GALERA.start(WithoutFenceWrites::new, TestSettings.defaults());

        Optional<PermitGrant> second = acquireUnseenByOneAnother(GALERA.semaphore(1));

        assertThat(second).isPresent();
    }

    /** Both nodes decide before either knows what the other has decided. Returns what the later one grants. */
    private Optional<PermitGrant> acquireUnseenByOneAnother(String name) throws Exception {
        Node first = nodes.get(1);
        Node second = nodes.get(0);
        Future<Optional<PermitGrant>> late;
        second.gate().clear();
        try (MultiPrimary.Brake brake = GALERA.servers().holdBack(0)) {
            assertThat(first.semaphores().tryAcquire(AcquireRequest.of(name))).isPresent();
            late = Concurrently.async(() -> second.semaphores().tryAcquire(AcquireRequest.of(name)));
            GALERA.servers().awaitCommit(0);
        }
        return Concurrently.get(late);
    }
}
