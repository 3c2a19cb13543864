package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.PostgresReplication;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.springframework.dao.DataAccessException;

/** The primary is killed while two instances are at work, and its standby takes over. */
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class PostgresFailoverIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(60);
    private static final int CAPACITY = 3;

    /** A commit that a caller was told of is on the standby, too. */
    @Test
    void losesNothingWithASynchronousStandby() throws Exception {
        try (PostgresReplication servers = PostgresReplication.start(true);
                Schema schema = servers.schema().migrate();
                Node first = node(schema);
                Node second = node(schema)) {
            String name = first.semaphore(CAPACITY);
            PermitGrant held = acquire(first, name, true);
            PeakCounter working = new PeakCounter();
            Queue<Long> tokens = new ConcurrentLinkedQueue<>();
            AtomicInteger grants = new AtomicInteger();
            AtomicBoolean ended = new AtomicBoolean();
            Future<Void> work = Concurrently.async(() -> {
                Concurrently.run(8, SOON.multipliedBy(2), thread -> {
                    while (!ended.get()) {
                        work(thread % 2 == 0 ? first : second, name, working, tokens);
                        grants.incrementAndGet();
                    }
                });
                return null;
            });
            awaitMore(grants);

            servers.killPrimary();
            servers.promote();

            awaitMore(grants);
            ended.set(true);
            Concurrently.get(work, SOON);
            assertThat(working.peak()).as("at work beside the one that is held").isBetween(1, CAPACITY - 1);
            assertThat(tokens).doesNotHaveDuplicates();
            assertThat(held.isHeld()).isTrue();
            first.transaction()
                    .executeWithoutResult(status -> first.semaphores().requireHeld(held));
            assertThat(second.admin().holders(name))
                    .as("beside those whose release failed, which end with their TTL")
                    .anyMatch(holder -> holder.externalId().equals(held.externalId()));
        }
    }

    /** Why the documentation demands a synchronous one: the new primary has not heard of the last commits. */
    @Test
    void forgetsTheLastGrantsWithAnAsynchronousStandbyAndTheHolderIsTold() {
        try (PostgresReplication servers = PostgresReplication.start(false);
                Schema schema = servers.schema().migrate();
                Node first = node(schema);
                Node second = node(schema)) {
            String name = first.semaphore(1);
            acquire(second, name, false).release();
            servers.cutOff();
            PermitGrant forgotten = acquire(first, name, true);

            servers.killPrimary();
            servers.promote();

            PermitGrant granted = Awaitility.await("a grant of the new primary")
                    .atMost(SOON)
                    .ignoreExceptionsInstanceOf(DataAccessException.class)
                    .until(() -> acquire(second, name, false), grant -> true);
            assertThat(granted.fencingToken())
                    .as("also forgotten, and given again")
                    .isEqualTo(forgotten.fencingToken());
            assertThatExceptionOfType(PermitLostException.class)
                    .isThrownBy(() -> first.transaction()
                            .executeWithoutResult(status -> first.semaphores().requireHeld(forgotten)));
            Awaitility.await("the next renewal")
                    .atMost(SOON)
                    .untilAsserted(
                            () -> assertThat(first.events().subjects("lost")).containsExactly(forgotten.externalId()));
            assertThat(forgotten.isHeld()).isFalse();
        }
    }

    private static void work(Node node, String name, PeakCounter working, Queue<Long> tokens) {
        try (PermitGrant grant = acquire(node, name, false)) {
            working.enter();
            tokens.add(grant.fencingToken());
            working.leave();
        } catch (DataAccessException unavailable) {
            // the next one
        }
    }

    private static void awaitMore(AtomicInteger grants) {
        int before = grants.get();
        Awaitility.await("further grants").atMost(SOON).until(() -> grants.get() >= before + 100);
    }

    private static Node node(Schema schema) {
        return Node.on(schema, TestSettings.instanceTimeout(Duration.ofSeconds(30)));
    }

    private static PermitGrant acquire(Node node, String name, boolean keepAlive) {
        return node.semaphores()
                .acquire(AcquireRequest.of(name)
                        .withTtl(Duration.ofSeconds(10))
                        .withKeepAlive(keepAlive)
                        .withWaitTime(Duration.ofSeconds(30)));
    }
}
