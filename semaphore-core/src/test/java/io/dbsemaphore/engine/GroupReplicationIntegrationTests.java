package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.GroupReplication;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestSettings;
import java.sql.SQLException;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.function.UnaryOperator;
import java.util.stream.IntStream;
import javax.sql.DataSource;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.springframework.dao.CannotAcquireLockException;

/**
 * Never over capacity where three servers are written to, of which none knows the row locks of the others: what a grant
 * writes to the row of its semaphore lets the later one of two fail at its commit.
 */
@Slow
class GroupReplicationIntegrationTests {

    private static final int ACQUIRES = 900;
    private static final int CAPACITY = 8;
    private static final int POOL_SIZE = 10;
    /** Statements are sent one by one, so that each can be changed. */
    private static final SemaphoreSettings ONE_BY_ONE =
            TestSettings.defaults().with(SemaphoreSettings.PIPELINING, false);

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
        startNodes(pool -> pool, TestSettings.defaults());
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

    @Test
    void refusesWhatAnotherServerHasGrantedUnseen() throws SQLException {
        startNodes(pool -> pool, ONE_BY_ONE);
        AcquireRequest request = AcquireRequest.of(semaphore(1));
        try (GroupReplication.Brake brake = group.holdBack(0)) {
            assertThat(nodes.get(1).semaphores().tryAcquire(request)).isPresent();

            assertThatThrownBy(() -> nodes.get(0).semaphores().tryAcquire(request))
                    .isInstanceOf(CannotAcquireLockException.class)
                    .rootCause()
                    .isInstanceOfSatisfying(
                            SQLException.class,
                            certification ->
                                    assertThat(certification.getErrorCode()).isEqualTo(3101));
        }
        group.awaitInSync();
        assertThat(nodes.get(0).semaphores().tryAcquire(request)).isEmpty();
    }

    /** What the fence is written for: without that, nothing of what the two servers write is compared. */
    @Test
    void withoutTheFenceWriteTwoServersGrantTheOnlyPermit() throws SQLException {
        startNodes(WithoutFenceWrites::new, ONE_BY_ONE);
        AcquireRequest request = AcquireRequest.of(semaphore(1));
        try (GroupReplication.Brake brake = group.holdBack(0)) {
            assertThat(nodes.get(1).semaphores().tryAcquire(request)).isPresent();

            assertThat(nodes.get(0).semaphores().tryAcquire(request)).isPresent();
        }
    }

    private void startNodes(UnaryOperator<DataSource> wrapper, SemaphoreSettings settings) {
        nodes = IntStream.range(0, GroupReplication.SIZE)
                .mapToObj(node -> new Node(wrapper.apply(group.schema(node).newPool(POOL_SIZE)), settings))
                .toList();
    }

    private String semaphore(int capacity) {
        String name = "s" + NAMES.incrementAndGet();
        nodes.get(0).admin().create(name, capacity);
        group.awaitInSync();
        return name;
    }
}
