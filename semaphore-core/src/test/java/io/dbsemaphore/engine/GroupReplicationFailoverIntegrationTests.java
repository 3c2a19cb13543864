package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreListener;
import io.dbsemaphore.jdbc.SqlErrors;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.GroupReplication;
import io.dbsemaphore.testing.MultiPrimary;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import java.sql.SQLException;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.jdbc.datasource.DelegatingDataSource;

/**
 * Two instances are at work behind HAProxy when another server of a group becomes the primary. HAProxy cuts connections
 * that are idle for less time than callers wait.
 */
@Slow
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class GroupReplicationFailoverIntegrationTests {

    private static final int CAPACITY = 3;
    private static final int IDLE_LIMIT_SECONDS = 2;
    private static final int HELD_BACK = 3781;

    private static GroupReplication group;
    private static Schema schema;

    private Node first;
    private Node second;
    private String name;

    @BeforeAll
    static void startGroup() {
        group = GroupReplication.startWithOnePrimary();
        group.generatePrimaryKeys(); // Liquibase's own table has none
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
        assertThat(load.longestPause()).as("time without a grant").isLessThan(FailoverLoad.PATIENCE);
        assertStillHeld(held);
        assertStillHeld(last);
        assertThat(waiting).isNotDone();
        last.release();
        assertThat(Concurrently.get(waiting).fencingToken()).isGreaterThan(last.fencingToken());
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

    /** As behind a router that asks for the role of a server only: the new primary holds back what its clients want. */
    @Test
    void waitsForAPrimaryThatStillAppliesWhatItHasReceived() throws Exception {
        int primary = group.primary();
        int next = group.nextPrimary();
        DelegatingDataSource router = new DelegatingDataSource(group.direct(primary));
        Queue<Integer> retried = new ConcurrentLinkedQueue<>();
        SemaphoreListener listener = new SemaphoreListener() {
            @Override
            public void retried(Throwable failure) {
                SqlErrors.root(failure).map(SQLException::getErrorCode).ifPresent(retried::add);
            }
        };
        try (Node node = new Node(router, TestSettings.limits(1, IDLE_LIMIT_SECONDS, 3), listener)) {
            Future<PermitGrant> acquired;
            try (MultiPrimary.Brake brake = group.holdBack(next)) {
                group.leave(primary);
                router.setTargetDataSource(group.direct(next));
                acquired = Concurrently.async(() -> keptAlive(node, name));
                Awaitility.await("a transaction that is held back again and again")
                        .atMost(FailoverLoad.PATIENCE)
                        .failFast(acquired::isDone)
                        .until(() -> retried.stream()
                                        .filter(error -> error == HELD_BACK)
                                        .count()
                                >= 3);
            }

            assertThat(Concurrently.get(acquired, FailoverLoad.PATIENCE).isHeld())
                    .isTrue();
        } finally {
            group.join(primary);
        }
    }

    private void assertStillHeld(PermitGrant grant) {
        Awaitility.await("a heartbeat").atMost(FailoverLoad.PATIENCE).until(grant::isHeld);
        first.transaction().executeWithoutResult(status -> first.semaphores().requireHeld(grant));
        assertThat(first.events().of("lost")).isEmpty();
    }

    private static PermitGrant keptAlive(Node node, String name) {
        return node.semaphores()
                .acquire(AcquireRequest.of(name)
                        .withTtl(FailoverLoad.PATIENCE)
                        .withKeepAlive(true)
                        .withWaitTime(FailoverLoad.PATIENCE.multipliedBy(2)));
    }
}
