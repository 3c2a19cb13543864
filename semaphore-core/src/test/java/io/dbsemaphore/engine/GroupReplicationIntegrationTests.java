package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.GroupReplication;
import io.dbsemaphore.testing.Slow;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;

/**
 * Never over capacity where three servers are written to, of which none knows the row locks of the others: what a grant
 * writes to the row of its semaphore lets the later one of two fail at its commit.
 */
@Slow
class GroupReplicationIntegrationTests {

    private static final int ACQUIRES = 900;
    private static final int CAPACITY = 8;
    private static final int POOL_SIZE = 10;
    private static final AtomicInteger NAMES = new AtomicInteger();

    private static GroupReplication group;

    private List<Node> nodes = List.of();

    @BeforeAll
    static void startGroup() {
        GroupReplication.assumeDocker();
        group = GroupReplication.start();
        group.generatePrimaryKeys(); // Liquibase's own table has none
        group.schema(0).migrate();
        group.awaitInSync();
    }

    @AfterAll
    static void stopGroup() {
        if (group != null) {
            group.close();
        }
    }

    @AfterEach
    void stopNodes() {
        nodes.forEach(Node::close);
    }

    @Test
    void grantsTheCapacityAndNoMoreOverAllNodes() {
        startNodes();
        String small = semaphore(CAPACITY);
        String other = semaphore(CAPACITY + 1);
        long conflicts = group.conflicts();
        GaleraRace race = new GaleraRace(nodes, small, CAPACITY, other, CAPACITY + 1);

        race.run(ACQUIRES); // no caller sees an exception: a conflict is tried again

        assertThat(race.peaks().get(small)).isEqualTo(CAPACITY);
        assertThat(race.peaks().get(other)).isBetween(1, CAPACITY + 1);
        assertThat(group.conflicts()).as("conflicts between the nodes").isGreaterThan(conflicts);
        group.awaitInSync();
        for (Node node : nodes) {
            Optional<PermitGrant> all =
                    node.semaphores().tryAcquire(AcquireRequest.of(small, other).exclusive());
            assertThat(all).as("all that there is").isPresent();
            all.get().release();
            group.awaitInSync();
        }
    }

    private void startNodes() {
        nodes = IntStream.range(0, GroupReplication.SIZE)
                .mapToObj(node -> new Node(group.schema(node).newPool(POOL_SIZE)))
                .toList();
    }

    private String semaphore(int capacity) {
        String name = "s" + NAMES.incrementAndGet();
        nodes.get(0).admin().create(name, capacity);
        group.awaitInSync();
        return name;
    }
}
