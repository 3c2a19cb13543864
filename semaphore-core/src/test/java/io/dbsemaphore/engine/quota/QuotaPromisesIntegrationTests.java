package io.dbsemaphore.engine.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.spi.SemaphoreListener;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** What callers of the same instance, of other ones, operators and listeners may rely on where permits are reused. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class QuotaPromisesIntegrationTests extends ReuseFixture {

    private static final Duration R = Duration.ofMillis(500);

    private final AtomicBoolean stop = new AtomicBoolean();

    @AfterEach
    void stopCallers() {
        stop.set(true);
    }

    @Test
    void aForcedReleaseInTheTransactionThatCheckedALaterUseIsDeferred() {
        acquire(node).release();
        String request = node.admin().holders(name).get(0).externalId();
        PermitGrant second = acquire(node);
        assertThat(second.isReused()).isTrue();

        ReleaseOutcome outcome = node.transaction().execute(status -> {
            node.semaphores().requireHeld(second);
            return node.admin().forceRelease(request, "operator", "test");
        });

        assertThat(outcome).isEqualTo(ReleaseOutcome.DEFERRED);
        await().atMost(SOON).until(() -> cluster.held(name) == 0);
    }

    @Test
    void aCallerWhoseWaitEndsWhileAnIdlePermitGoesBackIsNotRefusedForIt() throws Exception {
        acquire(node).release();
        Pause goesBack = node.gate().pauseBefore("update permit");
        CompletableFuture<PermitGrant> waits =
                node.semaphores().acquireAsync(request().exclusive().withWaitTime(Duration.ofMillis(1)));
        try {
            goesBack.awaitReached(SOON);
            LockSupport.parkNanos(Duration.ofMillis(600).toNanos());
        } finally {
            goesBack.open();
        }
        Concurrently.get(waits).release();
    }

    @Measured
    @Test
    void idlePermitsGoBackToAWaitingInstanceWhileAConfirmationIsSlow() {
        String one = cluster.semaphore(1);
        Duration reuse = Duration.ofSeconds(2);
        Duration took;
        Node keeps = node(reuse);
        keeps.semaphores().acquire(request(one)).release();
        Pause confirmation = keeps.gate().pauseBefore("'HELD'");
        try {
            confirmation.awaitReached(SOON);
            long begun = System.nanoTime();
            other.semaphores().acquire(request(one).withWaitTime(SOON)).release();
            took = Duration.ofNanos(System.nanoTime() - begun);
        } finally {
            confirmation.open();
        }
        Measurement.check(() -> assertThat(took).isLessThan(reuse.plusSeconds(2)));
    }

    @ParameterizedTest
    @ValueSource(booleans = {true, false})
    void anInstanceWithoutFairnessGetsIdlePermitsOfOneWithIt(boolean keptAlive) throws Exception {
        String one = cluster.semaphore(1);
        Node keeps = node(R);
        Node unfair = Node.on(cluster.schema(), settings(R).with(SemaphoreSettings.FAIR, PerSemaphore.all(false)));
        nodes.add(unfair);
        keeps.semaphores().acquire(request(one)).release();
        Future<Boolean> uses = Concurrently.async(() -> {
            while (!stop.get()) {
                keeps.semaphores().tryAcquire(request(one)).ifPresent(PermitGrant::release);
                LockSupport.parkNanos(R.toNanos());
            }
            return true;
        });

        Optional<PermitGrant> grant = unfair.semaphores()
                .tryAcquire(request(one).withKeepAlive(keptAlive).withWaitTime(R.multipliedBy(16)));

        stop.set(true);
        Concurrently.get(uses);
        assertThat(grant).isPresent();
        grant.ifPresent(PermitGrant::release);
    }

    /** Its record as a waiting caller has been deleted with its wait. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aRefusedCallerIsToldToOtherInstances(int waitMillis) {
        PermitGrant held = acquire(node);
        Node refuses = node(R);

        assertThat(refuses.semaphores().tryAcquire(request().withWaitTime(Duration.ofMillis(waitMillis))))
                .isEmpty();

        await().atMost(SOON)
                .until(() -> cluster
                        .schema()
                        .jdbc()
                        .queryForList(
                                "select w.instance from semaphore_waiter w join semaphore s on s.id = w.semaphore_id where s.name = ?",
                                Long.class,
                                name)
                        .stream()
                        .anyMatch(instance -> instance < 0));
        held.release();
    }

    @Test
    void aUseThatAShutdownEndsIsToldLostWithItsId() {
        Told told = new Told();
        Node one = Node.on(
                cluster.schema(),
                settings(REUSE).with(SemaphoreSettings.SHUTDOWN_TIMEOUT, Duration.ofSeconds(1)),
                told);
        nodes.add(one);
        one.semaphores().acquire(request()).release();
        LockSupport.parkNanos(Duration.ofSeconds(3).toNanos());
        PermitGrant use = one.semaphores().acquire(request());
        assertThat(use.isReused()).isTrue();
        told.released.clear();

        one.stop();

        await().atMost(SOON).untilAsserted(() -> assertThat(told.lost).containsExactly(use.externalId()));
        assertThat(told.released).isEmpty();
    }

    @Measured
    @Test
    void aCallerThatGetsAnIdlePermitAtTheEndOfItsWaitIsToldToHaveWaited() throws Exception {
        String full = cluster.semaphore(1);
        Told told = new Told();
        Node one = Node.on(cluster.schema(), settings(REUSE), told);
        nodes.add(one);
        PermitGrant used = one.semaphores().acquire(request(full));
        CompletableFuture<PermitGrant> waits =
                one.semaphores().acquireAsync(request(full).withWaitTime(Duration.ofSeconds(6)));
        await().atMost(SOON).until(() -> other.admin().find(full).orElseThrow().waiting() == 1);
        Pause lastAttempt = one.gate().pauseBefore("select s.live_from from semaphore s");
        try {
            lastAttempt.awaitReached(SOON); // its wait is over, and it is in no queue
            used.release();
        } finally {
            LockSupport.parkNanos(Duration.ofMillis(50).toNanos());
            lastAttempt.open();
        }

        try (PermitGrant grant = grantOf(waits)) {
            assertThat(grant.isReused()).isTrue();
        }
        assertThat(told.acquired)
                .last()
                .satisfies(event -> assertThat(event.waited()).isTrue());
    }

    /** Of a caller for which a permit is released at its last attempt, unless that attempt is over. */
    private static PermitGrant grantOf(Future<PermitGrant> waits) throws Exception {
        try {
            return Concurrently.get(waits);
        } catch (ExecutionException failure) {
            if (failure.getCause() instanceof PermitsUnavailableException) {
                throw Measurement.late("Refused, as if the release had come after the last attempt: " + failure);
            }
            throw failure;
        }
    }

    private static final class Told implements SemaphoreListener {

        private final List<Acquired> acquired = new CopyOnWriteArrayList<>();
        private final List<Released> released = new CopyOnWriteArrayList<>();
        private final List<String> lost = new CopyOnWriteArrayList<>();

        @Override
        public void acquired(Acquired event) {
            acquired.add(event);
        }

        @Override
        public void released(Released event) {
            released.add(event);
        }

        @Override
        public void lost(Lost event) {
            lost.add(event.grant().externalId());
        }
    }
}
