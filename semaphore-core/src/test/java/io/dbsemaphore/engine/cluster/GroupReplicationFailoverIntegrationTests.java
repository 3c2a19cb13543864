package io.dbsemaphore.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Clustered;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.cluster.GroupReplication;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.rerun.Promise;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/**
 * Two instances are at work behind HAProxy when another server of a group becomes the primary. HAProxy cuts connections
 * that are idle for less time than callers wait.
 */
@Clustered
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Promise
class GroupReplicationFailoverIntegrationTests {

    private static final int CAPACITY = 3;

    private static GroupReplication group;
    private static Schema schema;

    private Node first;
    private Node second;
    private String name;

    @BeforeAll
    static void startGroup() {
        group = GroupReplication.startWithOnePrimary();
        schema = group.schema().migrate();
    }

    @AfterAll
    static void stopGroup() {
        if (schema != null) {
            schema.close();
        }
        if (group != null) {
            group.close();
        }
    }

    @BeforeEach
    void startNodes() {
        first = node();
        second = node();
        name = first.semaphore(CAPACITY);
    }

    private static Node node() {
        return Node.on(schema, TestSettings.instanceTimeout(FailoverLoad.PATIENCE));
    }

    @AfterEach
    void stopNodes() {
        first.close();
        second.close();
    }

    @Test
    void goesOnWithTheNextPrimaryWhenTheFirstIsKilled() throws Exception {
        int killed = group.primary();
        PermitGrant held = keptAlive(first, name);
        String full = first.semaphore(1);
        PermitGrant last = keptAlive(first, full);
        Future<PermitGrant> waiting = Concurrently.async(() -> keptAlive(second, full));
        FailoverLoad load = FailoverLoad.start(first, second, name);

        group.kill(killed);

        Awaitility.await("another primary")
                .atMost(FailoverLoad.PATIENCE)
                .until(() -> group.primary(), primary -> primary >= 0 && primary != killed);
        load.awaitMore();
        group.rejoin(killed);
        load.awaitMore();
        load.end(CAPACITY - 1);
        assertStillHeld(held);
        assertStillHeld(last);
        assertThat(waiting).isNotDone();
        last.release();
        assertThat(Concurrently.get(waiting).fencingToken()).isGreaterThan(last.fencingToken());
        Measurement.check(
                () -> assertThat(load.longestPause()).as("time without a grant").isLessThan(FailoverLoad.PATIENCE));
    }

    @Test
    void goesOnWhenAnotherServerIsMadeThePrimary() throws Exception {
        PermitGrant held = keptAlive(first, name);
        FailoverLoad load = FailoverLoad.start(first, second, name);

        int next = (group.primary() + 1) % group.size();
        group.makePrimary(next);

        assertThat(group.primary()).isEqualTo(next);
        load.awaitMore();
        load.end(CAPACITY - 1);
        assertStillHeld(held);
    }

    /** Grants of the load may be lost: their time to live is shorter than an election may take. */
    private void assertStillHeld(PermitGrant grant) {
        Awaitility.await("a heartbeat").atMost(FailoverLoad.PATIENCE).until(grant::isHeld);
        first.transaction().executeWithoutResult(status -> first.semaphores().requireHeld(grant));
        assertThat(first.events().subjects("lost")).doesNotContain(grant.externalId());
    }

    private static PermitGrant keptAlive(Node node, String name) {
        return node.semaphores()
                .acquire(AcquireRequest.of(name)
                        .withTtl(FailoverLoad.PATIENCE)
                        .withKeepAlive(true)
                        .withWaitTime(FailoverLoad.PATIENCE.multipliedBy(2)));
    }
}
