package io.dbsemaphore.engine.quota;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.RequestAlreadyReleasedException;
import io.dbsemaphore.RequestInProgressException;
import io.dbsemaphore.SemaphoreClosedException;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.node.Node;
import java.lang.reflect.Proxy;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.Callable;
import java.util.concurrent.Future;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** What belonged to a use of a permit ends with that use; a forced release, a pause and a stop end its reuse. */
class ReuseEndIntegrationTests extends ReuseFixture {

    @Test
    void aUseThatHasEndedAffectsNoLaterOne() {
        PermitGrant first = acquire(node);
        first.release();
        PermitGrant second = acquire(node);
        assertThat(second.isReused()).isTrue();

        assertThat(first.isHeld()).isFalse();
        assertThat(first.release()).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertThat(node.semaphores().release(first.externalId())).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertThat(node.semaphores().find(first.externalId())).isEmpty();
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> first.renew(Duration.ofMinutes(1)));
        assertThatExceptionOfType(PermitLostException.class)
                .isThrownBy(() -> node.semaphores().renew(first.externalId(), Duration.ofMinutes(1)));

        assertThat(second.isHeld()).isTrue();
        assertThat(node.semaphores().find(second.externalId())).containsSame(second);
        assertThat(cluster.held(name)).isEqualTo(1);
        assertThat(node.semaphores().release(second.externalId())).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(second.isHeld()).isFalse();
    }

    @Test
    void noCallOfAnotherInstanceByTheIdOfAUseThatHasEndedAffectsTheNextOne() {
        PermitGrant first = acquire(node);
        first.release();
        PermitGrant second = acquire(node);
        assertThat(second.isReused()).isTrue();

        assertThat(other.semaphores().release(first.externalId())).isEqualTo(ReleaseOutcome.NOT_FOUND);
        assertThatExceptionOfType(PermitLostException.class)
                .isThrownBy(() -> other.semaphores().renew(first.externalId(), Duration.ofSeconds(1)));
        assertThatExceptionOfType(PermitLostException.class)
                .isThrownBy(() -> other.transaction()
                        .executeWithoutResult(status -> other.semaphores().requireHeld(wrapped(first))));

        assertThat(second.isHeld()).isTrue();
        assertThat(other.semaphores().tryAcquire(request())).isEmpty();
        assertThat(second.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void anAcquireWithTheIdOfAUseFails() {
        PermitGrant first = acquire(node);
        AcquireRequest repeated = request().withExternalId(first.externalId());
        assertThatExceptionOfType(RequestInProgressException.class)
                .isThrownBy(() -> node.semaphores().acquire(repeated));
        assertThat(node.semaphores().acquireAsync(repeated))
                .failsWithin(Duration.ofSeconds(10))
                .withThrowableThat()
                .withCauseInstanceOf(RequestInProgressException.class);
        first.release();
        PermitGrant second = acquire(node);
        assertThat(second.isReused()).isTrue();

        assertThatExceptionOfType(RequestAlreadyReleasedException.class)
                .isThrownBy(() -> node.semaphores().acquire(repeated));

        assertThat(second.release()).isEqualTo(ReleaseOutcome.RELEASED);
    }

    @Test
    void aUseThatWasRenewedIsReleasedInTheDatabase() {
        acquire(node).release();
        PermitGrant grant = acquire(node);
        grant.renew(Duration.ofMinutes(20));

        assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);

        assertThat(cluster.held(name)).isZero();
    }

    @Test
    void requireHeldPassesForTheCurrentUseOnly() {
        PermitGrant first = acquire(node);
        first.release();
        PermitGrant second = acquire(node);

        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> requireHeld(first));
        requireHeld(second);

        assertThat(second.release()).isEqualTo(ReleaseOutcome.RELEASED);
        assertThat(cluster.held(name)).as("a checked use ends in the database").isZero();
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> requireHeld(second));
    }

    @Test
    void requireHeldFailsForAnOldUseThatAnApplicationHasWrapped() {
        PermitGrant first = acquire(node);
        PermitGrant wrapped = wrapped(first);
        first.release();
        PermitGrant second = acquire(node);

        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> requireHeld(wrapped));
        requireHeld(wrapped(second));
        second.release();
    }

    /** Others may have reclaimed the permit meanwhile, although its reuse time has not passed. */
    @Test
    void aUseWhoseLeaseHasLapsedIsReleasedInTheDatabase() {
        try (Node suspect = Node.on(
                cluster.schema(), settings(REUSE).with(SemaphoreSettings.INSTANCE_TIMEOUT, Duration.ofSeconds(3)))) {
            PermitGrant grant = acquire(suspect);
            suspect.gate().pauseBefore("update semaphore_instance").awaitReached(SOON);
            await().atMost(SOON).until(() -> !grant.isHeld());

            ReleaseOutcome unused = grant.release();

            assertThat(cluster.held(name)).isZero();
        }
    }

    /** Another use must not begin while a transaction that checked this one can still commit. */
    @Test
    void theReleaseOfACheckedUseWaitsForTheTransactionThatCheckedIt() throws Exception {
        acquire(node).release();
        PermitGrant grant = acquire(node);
        Future<ReleaseOutcome> release = node.transaction().execute(status -> {
            node.semaphores().requireHeld(grant);
            Future<ReleaseOutcome> released = Concurrently.async(grant::release);
            Concurrently.assertWaits(released);
            assertThat(node.semaphores().tryAcquire(request())).isEmpty();
            return released;
        });

        assertThat(Concurrently.get(release)).isEqualTo(ReleaseOutcome.RELEASED);
        acquire(node).release();
    }

    /** As an application may wrap it. */
    private static PermitGrant wrapped(PermitGrant grant) {
        return (PermitGrant) Proxy.newProxyInstance(
                PermitGrant.class.getClassLoader(),
                new Class<?>[] {PermitGrant.class},
                (proxy, method, arguments) -> method.invoke(grant, arguments));
    }

    @Test
    void aForcedReleaseEndsTheUse() {
        PermitGrant grant = reuse();
        String requestId = ReusedGrant.requestOf(grant.externalId());
        assertThat(other.admin().holders(name))
                .singleElement()
                .satisfies(holder -> assertThat(holder.externalId()).isEqualTo(requestId));

        other.admin().forceRelease(requestId, "operator", "test");

        PermitGrant taken = acquire(other);
        assertThatExceptionOfType(PermitLostException.class).isThrownBy(() -> requireHeld(grant));
        assertThat(grant.isHeld()).isFalse();
        assertThat(grant.release()).isEqualTo(ReleaseOutcome.ALREADY_RELEASED);
        assertThat(brief.semaphores().tryAcquire(request())).isEmpty();
        taken.release();
    }

    /** Not the first time if that takes longer than the reuse time. */
    private PermitGrant reuse() {
        PermitGrant grant = acquire(brief);
        while (!grant.isReused()) {
            grant.release();
            grant = acquire(brief);
        }
        return grant;
    }

    @Test
    void aForcedReleaseOfAReusedPermitIsEffectiveWithinTheReuseTime() throws Exception {
        assertThat(other.admin().holders(name)).isEmpty(); // starts Hibernate, which takes seconds of CPU time
        Optional<PermitGrant> taken =
                useDuring(1, () -> await().until(this::forceReleaseAndAcquire, Optional::isPresent));

        assertThat(brief.semaphores().tryAcquire(request())).isEmpty();
        taken.ifPresent(PermitGrant::release);
    }

    /** The holder may be another one by now: then there is nothing to be released, and perhaps nothing available. */
    private Optional<PermitGrant> forceReleaseAndAcquire() {
        other.admin()
                .holders(name)
                .forEach(holder -> other.admin().forceRelease(holder.externalId(), "operator", "test"));
        return other.semaphores().tryAcquire(request());
    }

    @Test
    void aPauseIsEffectiveWithinTheReuseTime() throws Exception {
        useDuring(1, () -> setCapacity(0));

        assertThat(brief.semaphores().tryAcquire(request())).isEmpty();
        await().atMost(SOON).untilAsserted(() -> assertThat(cluster.held(name)).isZero());
    }

    @Test
    void aLoweredCapacityIsEffectiveWithinTheReuseTime() throws Exception {
        setCapacity(3);
        useDuring(3, () -> setCapacity(1));

        List<PermitGrant> granted = acquireUpTo(3);
        assertThat(granted).hasSizeLessThanOrEqualTo(1);
        granted.forEach(PermitGrant::release);
        await().atMost(SOON).untilAsserted(() -> assertThat(cluster.held(name)).isZero());
    }

    /**
     * Acquires and releases while the action runs and for the reuse time after it, without a pause: a permit that is idle for
     * longer goes back.
     */
    private <T> T useDuring(int permits, Callable<T> action) throws Exception {
        acquireUpTo(permits).forEach(PermitGrant::release);
        Future<T> done = Concurrently.async(action);
        while (!done.isDone()) {
            acquireUpTo(permits).forEach(PermitGrant::release);
        }
        long end = System.nanoTime() + BRIEF.toNanos();
        while (System.nanoTime() < end) {
            acquireUpTo(permits).forEach(PermitGrant::release);
        }
        return Concurrently.get(done);
    }

    private int setCapacity(int capacity) {
        other.admin().setCapacity(name, capacity, "operator", "test");
        return capacity;
    }

    private List<PermitGrant> acquireUpTo(int permits) {
        return Stream.generate(() -> brief.semaphores().tryAcquire(request()))
                .limit(permits)
                .flatMap(Optional::stream)
                .toList();
    }

    @Test
    void aStopGivesEverythingBackAndAStartBeginsAnew() {
        try (Node stopped = Node.on(cluster.schema(), settings(REUSE))) {
            acquire(stopped).release();
            assertThat(cluster.held(name)).isEqualTo(1);

            stopped.stop();

            assertThat(cluster.held(name)).isZero();
            assertThatExceptionOfType(SemaphoreClosedException.class).isThrownBy(() -> acquire(stopped));
            stopped.start();
            try (PermitGrant grant = acquire(stopped)) {
                assertThat(grant.isReused()).isFalse();
            }
            assertThat(cluster.held(name)).isEqualTo(1);
        }
        assertThat(cluster.held(name)).isZero();
    }

    @Test
    void aStopWaitsForTheWorkUnderAReusedPermit() throws Exception {
        try (Node stopped = Node.on(cluster.schema(), settings(REUSE))) {
            acquire(stopped).release();
            PermitGrant grant = acquire(stopped);
            assertThat(grant.isReused()).isTrue();
            Future<?> stop = Concurrently.async(() -> {
                stopped.stop();
                return true;
            });
            Concurrently.assertWaits(stop);

            assertThat(grant.isHeld()).isTrue();
            assertThat(grant.release()).isEqualTo(ReleaseOutcome.RELEASED);

            Concurrently.get(stop);
            assertThat(cluster.held(name)).isZero();
        }
    }
}
