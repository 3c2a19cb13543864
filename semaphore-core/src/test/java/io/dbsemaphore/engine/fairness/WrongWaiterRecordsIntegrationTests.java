package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import java.time.Duration;
import java.time.LocalDateTime;
import java.time.ZoneOffset;
import java.util.Optional;
import java.util.concurrent.Future;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** Records of waiting callers that no instance of this version has written keep nobody from a permit for good. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class WrongWaiterRecordsIntegrationTests {

    private static final long INSTANCE = 4711;
    /** Less than what {@code waiters_until} is set to, after which the record has no effect anyway. */
    private static final Duration SOON = Duration.ofSeconds(9);

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    @ParameterizedTest
    @ValueSource(
            strings = {
                "garbage",
                " ",
                ":",
                "0:",
                ":1",
                "0:1 ",
                "0:x",
                "x!:1",
                "0:-1",
                "0:-2147483648 1:-2147483648",
                "0:99999999999",
                "zzzzzzzzzzzzzzzzzzzz:1",
                "v2;0:1;later"
            })
    void whatCannotBeReadWithholdsNothing(String firstWaiters) throws Exception {
        String name = cluster.semaphore(1);
        record(name, firstWaiters, Duration.ofSeconds(1));

        try (PermitGrant grant = cluster.node(0).semaphores().acquire(AcquireRequest.of(name))) {
            assertThat(grant.isHeld()).isTrue();
        }
    }

    /** A later version of the library waits: a new caller leaves it the one permit that it surely waits for, and gets the others. */
    @Measured
    @ParameterizedTest
    @ValueSource(strings = {"2 0:9 1:9", "1 0:9/1"})
    void whatALaterVersionHasWrittenWithholdsOnePermit(String waiters) throws Exception {
        String name = cluster.semaphore(3);
        setAwaited(name, now().plusSeconds(10));
        insert(name, "0:3", waiters, Duration.ofMillis(2_500));

        try (PermitGrant grant = cluster.node(0).semaphores().acquire(AcquireRequest.of(name, 2))) {
            assertThat(grant.isHeld()).isTrue();
            assertWithheld(1, name);
        }
    }

    /** It is preferred to the text for earlier versions, which has another order where arrivals are not all that counts. */
    @Measured
    @Test
    void whatThisVersionHasWrittenIsRead() {
        String name = cluster.semaphore(3);
        setAwaited(name, now().plusSeconds(10));
        insert(name, "0:1", "1 0:2 -a:1;later", Duration.ofMillis(2_500));

        assertWithheld(0, name);
    }

    @ParameterizedTest
    @ValueSource(strings = {"garbage", "0:-1", "v2;0:1;later"})
    void whatCannotBeReadKeepsNobodyFromWaiting(String firstWaiters) throws Exception {
        String name = cluster.semaphore(1);
        PermitGrant held = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
        Future<PermitGrant> waiting = Concurrently.async(() ->
                cluster.node(1).semaphores().acquire(AcquireRequest.of(name).withWaitTime(SOON)));
        await().until(() -> isRecorded(name));
        record(name, firstWaiters, Duration.ofHours(1));

        held.release();

        assertThat(Concurrently.get(waiting).isHeld()).isTrue();
        waiting.get().release();
    }

    /** As after the database's clock was set back. */
    @Test
    void aRecordThatIsValidForLongerThanAnyInstanceWritesDoesNotCount() {
        String name = cluster.semaphore(1);
        record(name, "0:1", Duration.ofHours(1));

        assertThat(cluster.node(0).semaphores().tryAcquire(AcquireRequest.of(name)))
                .hasValueSatisfying(PermitGrant::release);
    }

    /** The other instance cannot do so while batches of this one keep the row locked. */
    @Measured
    @Test
    void aRefusalForACallerOfAnotherInstanceKeepsTheSemaphoreMarkedAsAwaited() {
        String name = cluster.semaphore(1);
        LocalDateTime soon = now().plusSeconds(4);
        setAwaited(name, soon);
        insert(name, "0:1", Duration.ofMillis(2_500)); // after 3 s it would be longer than any instance writes

        assertWithheld(0, name);

        assertThat(cluster.schema()
                        .jdbc()
                        .queryForObject(
                                "select waiters_until from semaphore where name = ?", LocalDateTime.class, name))
                .isAfter(soon.plusSeconds(3));
    }

    /** Nothing is withheld when the record has expired. */
    private static void assertWithheld(int node, String name) {
        Optional<PermitGrant> granted = cluster.node(node).semaphores().tryAcquire(AcquireRequest.of(name));
        granted.ifPresent(PermitGrant::release);
        Measurement.check(() -> assertThat(granted).isEmpty());
    }

    private static boolean isRecorded(String name) {
        Integer rows = cluster.schema()
                .jdbc()
                .queryForObject(
                        "select count(*) from semaphore_waiter w join semaphore s on s.id = w.semaphore_id"
                                + " where s.name = ?",
                        Integer.class,
                        name);
        return rows != null && rows > 0;
    }

    private static void record(String name, String firstWaiters, Duration valid) {
        setAwaited(name, now().plusSeconds(10));
        insert(name, firstWaiters, valid);
    }

    private static void setAwaited(String name, LocalDateTime until) {
        cluster.schema().jdbc().update("update semaphore set waiters_until = ? where name = ?", until, name);
    }

    /** As an earlier version of the library does. */
    private static void insert(String name, String firstWaiters, Duration valid) {
        insert(name, firstWaiters, null, valid);
    }

    private static void insert(String name, String firstWaiters, @Nullable String waiters, Duration valid) {
        Long id = cluster.schema().jdbc().queryForObject("select id from semaphore where name = ?", Long.class, name);
        LocalDateTime now = now();
        cluster.schema()
                .jdbc()
                .update(
                        "insert into semaphore_waiter (semaphore_id, instance, owner, since, waiting, first_waiters, waiters, expires_at)"
                                + " values (?, ?, 'another', ?, 1, ?, ?, ?)",
                        id,
                        INSTANCE,
                        now.minusSeconds(100),
                        firstWaiters,
                        waiters,
                        now.plus(valid));
    }

    private static LocalDateTime now() {
        return LocalDateTime.ofInstant(cluster.node(0).admin().now(), ZoneOffset.UTC);
    }
}
