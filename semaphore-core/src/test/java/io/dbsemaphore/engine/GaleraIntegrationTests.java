package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.GaleraCluster;
import io.dbsemaphore.testing.TestSettings;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.core.JdbcTemplate;

/**
 * Never over capacity where two servers are written to, of which neither knows the row locks of the other: what a grant
 * writes to the row of its semaphore lets the later one of two fail at its commit. Without that write both are granted.
 */
class GaleraIntegrationTests {

    /** With one caller per transaction each acquire has a commit of its own, and most meet the other node. */
    private static final int ACQUIRES = TestSettings.maxBatchSize() > 1 ? 20_000 : 1_000;

    private static final int CAPACITY = 8;
    private static final int POOL_SIZE = 10;
    private static final AtomicInteger NAMES = new AtomicInteger();

    private static GaleraCluster galera;

    private List<Node> nodes = List.of();

    @BeforeAll
    static void startCluster() {
        GaleraCluster.assumeInstalled();
        galera = GaleraCluster.start();
    }

    @AfterAll
    static void stopCluster() {
        if (galera != null) {
            galera.close();
        }
    }

    @AfterEach
    void stopNodes() {
        nodes.forEach(Node::close);
    }

    @Test
    void grantsTheCapacityAndNoMoreInTwentyThousandAcquiresOverBothNodes() {
        startNodes(pool -> pool);
        String small = semaphore(CAPACITY);
        String other = semaphore(CAPACITY + 1);
        long conflicts = galera.conflicts();
        GaleraRace race = new GaleraRace(nodes, small, CAPACITY, other, CAPACITY + 1);

        race.run(ACQUIRES);

        assertThat(race.peaks().get(small)).isEqualTo(CAPACITY);
        assertThat(race.peaks().get(other)).isBetween(1, CAPACITY + 1);
        assertThat(galera.conflicts()).as("conflicts between the nodes").isGreaterThan(conflicts);
        galera.awaitInSync();
        for (int node = 0; node < GaleraCluster.SIZE; node++) {
            assertThat(held(node, small)).isZero();
            assertThat(held(node, other)).isZero();
            Optional<PermitGrant> all = nodes.get(node)
                    .semaphores()
                    .tryAcquire(AcquireRequest.of(small, other).exclusive());
            assertThat(all).as("all that there is, on node %d", node).isPresent();
            all.get().release();
            galera.awaitInSync();
        }
    }

    @Test
    void refusesWhatTheOtherNodeHasGrantedUnseen() throws Exception {
        startNodes(pool -> pool);
        Optional<PermitGrant> second = acquireUnseenByOneAnother(semaphore(1));

        assertThat(second).isEmpty();
        assertThat(nodes.get(0).gate().count("insert into permit(")).isEqualTo(1);
    }

    @Test
    void withoutTheFenceWriteBothNodesGrantTheOnlyPermit() throws Exception {
        startNodes(WithoutFenceWrites::new);

        Optional<PermitGrant> second = acquireUnseenByOneAnother(semaphore(1));

        assertThat(second).isPresent();
    }

    /** Both nodes decide before either knows what the other has decided. Returns what the later one grants. */
    private Optional<PermitGrant> acquireUnseenByOneAnother(String name) throws Exception {
        Node first = nodes.get(1);
        Node second = nodes.get(0);
        Future<Optional<PermitGrant>> late;
        second.gate().clear();
        try (GaleraCluster.Brake brake = galera.holdBack(0)) {
            assertThat(first.semaphores().tryAcquire(AcquireRequest.of(name))).isPresent();
            late = Cluster.async(() -> second.semaphores().tryAcquire(AcquireRequest.of(name)));
            galera.awaitCommit(0);
        }
        return Cluster.get(late);
    }

    private void startNodes(UnaryOperator<DataSource> wrapper) {
        nodes = IntStream.range(0, GaleraCluster.SIZE)
                .mapToObj(node -> new Node(wrapper.apply(galera.schema(node).newPool(POOL_SIZE))))
                .toList();
    }

    private String semaphore(int capacity) {
        String name = "s" + NAMES.incrementAndGet();
        nodes.get(0).admin().create(name, capacity);
        galera.awaitInSync();
        return name;
    }

    private static long held(int node, String name) {
        JdbcTemplate jdbc = galera.schema(node).jdbc();
        Map<String, Object> held = jdbc.queryForMap(
                "select coalesce(sum(p.count), 0) held from permit p join semaphore s on s.id = p.semaphore_id"
                        + " where s.name = ? and p.state = 'ACQUIRED'",
                name);
        return ((Number) held.get("held")).longValue();
    }
}
