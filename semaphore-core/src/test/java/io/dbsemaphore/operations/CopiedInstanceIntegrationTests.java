package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.hold.InstanceLease;
import io.dbsemaphore.engine.hold.KeepAlive;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.NodesPerTest;
import io.dbsemaphore.testing.node.SemaphoreRows;
import io.dbsemaphore.testing.rerun.Promise;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import java.util.function.Supplier;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.springframework.test.util.ReflectionTestUtils;

/** Two instances with one id: the process of one is a copy of the other's, made while that was running. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class CopiedInstanceIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);
    private static final Duration HOUR = Duration.ofHours(1);
    private static final String HEARTBEAT = "update semaphore_instance";

    @RegisterExtension
    static final NodesPerTest nodes = new NodesPerTest();

    private long shared;
    private final Node node = start();
    private final Node copy = start();
    private final String name = node.semaphore(1);
    private final AcquireRequest request =
            AcquireRequest.of(name).withExternalId(name).withTtl(HOUR).withKeepAlive(true);

    @Test
    void takesAnotherIdBeforeItsFirstGrant() {
        copy(node, copy);

        PermitGrant grant = node.semaphores().acquire(request);
        PermitGrant own = keep(copy, copy.semaphore(1));

        assertThat(id(copy)).isNotEqualTo(id(node));
        awaitHeartbeats(node, 2);
        awaitHeartbeats(copy, 2);
        awaitHeld(grant);
        awaitHeld(own);
        assertThat(node.events().of("lost")).isEmpty();
        assertThat(copy.events().of("lost")).isEmpty();
    }

    @Test
    @Promise
    void losesItsGrantsToTheOther() {
        PermitGrant grant = node.semaphores().acquire(request);
        PermitGrant same = copyWith(() -> copy.semaphores().acquire(request));
        Node loser = awaitLoser();
        PermitGrant lost = loser == node ? grant : same;
        PermitGrant held = loser == node ? same : grant;

        Awaitility.await("the report").atMost(SOON).until(() -> loser.events().subjects("lost"), List.of(name)::equals);
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> lost.renew(HOUR));
        assertThatExceptionOfType(PermitLostException.class)
                .isThrownBy(() -> loser.transaction()
                        .executeWithoutResult(status -> loser.semaphores().requireHeld(lost)));
        assertThat(lost.release()).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        loser.close();
        awaitHeld(held);
        assertThat(SemaphoreRows.held(nodes.schema(), name)).isEqualTo(1);
    }

    @Test
    void doesNotKeepTheGrantsOfTheOtherAlive() {
        PermitGrant unused = node.semaphores().acquire(request);
        PermitGrant unusedToo = copyWith(() -> copy.semaphores().acquire(request));
        Node loser = awaitLoser();
        Node winner = loser == node ? copy : node;
        PermitGrant own = keep(loser, loser.semaphore(1));

        for (int each = 0; each < 500; each++) { // as one that was killed
            winner.gate().failBefore(HEARTBEAT, new SQLException("on purpose", "HY000"));
        }
        PermitGrant next = loser.semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON));

        awaitHeld(next);
        awaitHeld(own);
    }

    /** Both have the permit that they reuse, and only one of them may give it back. */
    @Test
    @Promise
    void doesNotGiveBackThePermitThatTheOtherReuses() {
        SemaphoreSettings reusing = TestSettings.instanceTimeout(Duration.ofSeconds(3))
                .with(SemaphoreSettings.REUSE, PerSemaphore.all(Duration.ofSeconds(10)));
        Node loser = nodes.start(reusing);
        loser.semaphores().acquire(AcquireRequest.of(name).withKeepAlive(true)).release();
        long former = id(loser);
        assertThat(SemaphoreRows.held(nodes.schema(), name)).isEqualTo(1);

        nodes.schema() // the heartbeat of the other
                .jdbc()
                .update("update semaphore_instance set nonce = nonce + 1099511627776 where id = ?", former);
        Awaitility.await("another id").atMost(SOON).until(() -> id(loser) != former);
        loser.semaphores().tryAcquire(AcquireRequest.of(name)); // finds that the permit is lost
        loser.close(); // gives back what it has kept

        assertThat(SemaphoreRows.held(nodes.schema(), name)).isEqualTo(1);
    }

    @Test
    void isNotTakenForOneAfterHeartbeatsWithoutAnAnswer() {
        PermitGrant grant = node.semaphores().acquire(request);
        long id = id(node);
        for (int each = 0; each < 2; each++) {
            node.gate().failAfterCommitOf(HEARTBEAT, new SQLException("on purpose", "08S01"));
        }
        awaitHeartbeats(node, 3);

        assertThat(id(node)).isEqualTo(id);
        awaitHeld(grant);
    }

    /** The commit of a heartbeat whose connection was lost comes between the two statements of the next one. */
    @Test
    void isNotTakenForOneByALateCommitOfItsOwnHeartbeat() {
        long id = id(node);
        StatementGate.Pause pause = node.gate().pauseAfter(HEARTBEAT);
        CompletableFuture<PermitGrant> acquire =
                CompletableFuture.supplyAsync(() -> node.semaphores().acquire(request));
        pause.awaitReached(SOON);
        nodes.schema()
                .jdbc()
                .update(
                        "insert into semaphore_instance(id, owner, started_at, heartbeat_at, expires_at, nonce)"
                                + " select ?, 'node', created_at, created_at, created_at, ? from semaphore where name = ?",
                        id,
                        ReflectionTestUtils.getField(lease(node), "sent"),
                        name);
        pause.open();

        awaitHeld(acquire.orTimeout(SOON.toSeconds(), TimeUnit.SECONDS).join());
        assertThat(id(node)).isEqualTo(id);
    }

    /** A new primary has not received the last heartbeats. */
    @Test
    void isNotTakenForOneAfterAFailover() {
        PermitGrant grant = node.semaphores().acquire(request);
        long id = id(node);
        long first = nodes.schema()
                .jdbc()
                .queryForObject("select nonce from semaphore_instance where id = ?", Long.class, id);
        awaitHeartbeats(node, 3);
        assertThat(nodes.schema().jdbc().update("update semaphore_instance set nonce = ? where id = ?", first, id))
                .isEqualTo(1);

        awaitHeartbeats(node, 3);

        assertThat(id(node)).isEqualTo(id);
        awaitHeld(grant);
    }

    /** Makes the copy, and lets neither send a heartbeat before the action has been run. */
    private <T> T copyWith(Supplier<T> action) {
        shared = id(node);
        StatementGate.Pause heartbeat = node.gate().pauseBefore(HEARTBEAT);
        try {
            copy(node, copy);
            return action.get();
        } finally {
            heartbeat.open();
        }
    }

    /** The one that has taken another id. */
    private Node awaitLoser() {
        Awaitility.await("another id").atMost(SOON).until(() -> id(node) != shared || id(copy) != shared);
        return id(node) == shared ? copy : node;
    }

    /** A grant is not known to be held while the lease of its instance has lapsed, for a moment. */
    private static void awaitHeld(PermitGrant grant) {
        Awaitility.await("a grant that is held").atMost(SOON).until(grant::isHeld);
    }

    /** Gives one what a copy of the other's process has in memory. */
    private static void copy(Node from, Node to) {
        InstanceLease original = lease(from);
        List.of("id", "answered", "sent")
                .forEach(field -> ReflectionTestUtils.setField(
                        lease(to), field, Objects.requireNonNull(ReflectionTestUtils.getField(original, field))));
    }

    private static long id(Node node) {
        return lease(node).id();
    }

    private static InstanceLease lease(Node node) {
        Object engine = Objects.requireNonNull(ReflectionTestUtils.getField(node, "engine"));
        Object run = Objects.requireNonNull(ReflectionTestUtils.getField(engine, "run"));
        Object keepAlive = Objects.requireNonNull(ReflectionTestUtils.getField(run, "keepAlive"));
        return ((KeepAlive.Collaborators) Objects.requireNonNull(ReflectionTestUtils.getField(keepAlive, "with")))
                .lease();
    }

    private static Node start() {
        return nodes.start(TestSettings.instanceTimeout(Duration.ofSeconds(3)));
    }

    private static PermitGrant keep(Node node, String name) {
        return node.semaphores().acquire(AcquireRequest.of(name).withTtl(HOUR).withKeepAlive(true));
    }

    private static void awaitHeartbeats(Node node, int count) {
        node.gate().clear();
        Awaitility.await("heartbeats").atMost(SOON).until(() -> node.gate().count(HEARTBEAT) > count);
    }
}
