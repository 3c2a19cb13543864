package io.dbsemaphore.engine.cluster;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.cluster.Replication;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.dao.DataAccessException;

/** The primary is killed while two instances are at work, and the server that follows it takes over. */
@Timeout(value = 300, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
abstract class ReplicaFailover {

    private static final int CAPACITY = 3;
    private static final Duration TTL = Duration.ofSeconds(10);

    /**
     * Starts the servers.
     *
     * @param synchronous whether a commit waits until it is on the other server, too
     */
    abstract Replication start(boolean synchronous);

    @Test
    void losesNothingIfCommitsWaitForTheReplica() throws Exception {
        try (Replication servers = start(true);
                Schema schema = servers.schema().migrate();
                Node first = node(schema);
                Node second = node(schema)) {
            String name = first.semaphore(CAPACITY);
            PermitGrant held = acquire(first, name, FailoverLoad.PATIENCE, true);
            FailoverLoad load = FailoverLoad.start(first, second, name);

            servers.killPrimary();
            servers.promote();

            load.awaitMore();
            load.end(CAPACITY - 1);
            Awaitility.await("a heartbeat").atMost(FailoverLoad.PATIENCE).until(held::isHeld);
            first.transaction()
                    .executeWithoutResult(status -> first.semaphores().requireHeld(held));
            assertThat(second.admin().holders(name))
                    .as("beside those whose release failed, which end with their TTL")
                    .anyMatch(holder -> holder.externalId().equals(held.externalId()));
        }
    }

    /** Why the documentation demands a synchronous one: the new primary has not heard of the last commits. */
    @Test
    void forgetsTheLastGrantsIfCommitsDoNotWaitAndTheHolderIsTold() {
        try (Replication servers = start(false);
                Schema schema = servers.schema().migrate();
                Node first = node(schema);
                Node second = node(schema)) {
            String name = first.semaphore(1);
            acquire(second, name, TTL, false).release();
            servers.cutOff();
            PermitGrant forgotten = acquire(first, name, TTL, true);

            servers.killPrimary();
            servers.promote();

            PermitGrant granted = Awaitility.await("a grant of the new primary")
                    .atMost(FailoverLoad.PATIENCE)
                    .ignoreExceptionsInstanceOf(DataAccessException.class)
                    .until(() -> acquire(second, name, TTL, false), grant -> true);
            assertThat(granted.fencingToken())
                    .as("also forgotten, and given again")
                    .isEqualTo(forgotten.fencingToken());
            assertThatExceptionOfType(PermitLostException.class)
                    .isThrownBy(() -> first.transaction()
                            .executeWithoutResult(status -> first.semaphores().requireHeld(forgotten)));
            Awaitility.await("the next renewal")
                    .atMost(FailoverLoad.PATIENCE.multipliedBy(2))
                    .untilAsserted(
                            () -> assertThat(first.events().subjects("lost")).containsExactly(forgotten.externalId()));
            assertThat(forgotten.isHeld()).isFalse();
        }
    }

    private static Node node(Schema schema) {
        return Node.on(schema, TestSettings.instanceTimeout(FailoverLoad.PATIENCE));
    }

    private static PermitGrant acquire(Node node, String name, Duration ttl, boolean keepAlive) {
        return node.semaphores()
                .acquire(AcquireRequest.of(name)
                        .withTtl(ttl)
                        .withKeepAlive(keepAlive)
                        .withWaitTime(FailoverLoad.PATIENCE));
    }
}
