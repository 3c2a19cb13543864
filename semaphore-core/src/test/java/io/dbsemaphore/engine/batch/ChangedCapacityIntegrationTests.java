package io.dbsemaphore.engine.batch;

import static java.util.concurrent.TimeUnit.MILLISECONDS;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsExceedCapacityException;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ExecutionException;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** The capacity changes while callers wait: they are served, or told, as soon as the permits of the new one are available. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ChangedCapacityIntegrationTests {

    private static final Duration LONG = Duration.ofSeconds(45);
    private static final Duration SOON = Duration.ofSeconds(20);

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    /** It waits for all permits, which are fewer now. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aCallerOfTheWholeCapacityIsServedWhenThatIsLowered(int releasing) throws Exception {
        String name = cluster.semaphore(10);
        PermitGrant held = cluster.node(releasing).semaphores().acquire(AcquireRequest.of(name));
        Future<PermitGrant> writer = acquire(1, AcquireRequest.of(name).exclusive());
        awaitWaiting(name, 1);

        cluster.node(0).admin().setCapacity(name, 4, "test", "fewer");
        held.release();

        try (PermitGrant all = writer.get(SOON.toMillis(), MILLISECONDS)) {
            assertThat(all.permits()).containsEntry(name, 4);
        }
    }

    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aCallerOfMoreThanTheLoweredCapacityIsToldSoAndDelaysNobody(int second) throws Exception {
        String name = cluster.semaphore(10);
        PermitGrant held = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
        Future<PermitGrant> many = acquire(1, AcquireRequest.of(name).withPermits(name, 10));
        awaitWaiting(name, 1);
        Future<PermitGrant> one = acquire(second, AcquireRequest.of(name));
        awaitWaiting(name, 2);

        cluster.node(0).admin().setCapacity(name, 4, "test", "fewer");

        try (PermitGrant grant = one.get(SOON.toMillis(), MILLISECONDS)) {
            assertThat(grant.isHeld()).isTrue();
        }
        assertThatExceptionOfType(ExecutionException.class)
                .isThrownBy(() -> many.get(SOON.toMillis(), MILLISECONDS))
                .withCauseInstanceOf(PermitsExceedCapacityException.class);
        held.release();
    }

    @Measured
    @Test
    void nobodyOvertakesACallerOfTheWholeCapacityWhenThatIsRaised() throws Exception {
        String name = cluster.semaphore(4);
        PermitGrant held = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
        Future<PermitGrant> writer = acquire(1, AcquireRequest.of(name).exclusive());
        awaitWaiting(name, 1);

        cluster.node(0).admin().setCapacity(name, 10, "test", "more");

        List<PermitGrant> overtaking = new ArrayList<>();
        for (int attempt = 0; attempt < 20; attempt++) {
            cluster.node(attempt)
                    .semaphores()
                    .tryAcquire(AcquireRequest.of(name))
                    .ifPresent(overtaking::add);
        }
        overtaking.forEach(PermitGrant::release);
        held.release();
        try (PermitGrant all = writer.get(SOON.toMillis(), MILLISECONDS)) {
            assertThat(all.permits()).containsEntry(name, 10);
        }
        Measurement.check(() -> assertThat(overtaking).isEmpty());
    }

    /** Paused, and resumed with fewer permits. */
    @ParameterizedTest
    @ValueSource(ints = {0, 1})
    void aCallerOfTheWholeCapacityIsServedAfterAPause(int releasing) throws Exception {
        String name = cluster.semaphore(10);
        PermitGrant held = cluster.node(releasing).semaphores().acquire(AcquireRequest.of(name));
        Future<PermitGrant> writer = acquire(1, AcquireRequest.of(name).exclusive());
        awaitWaiting(name, 1);

        cluster.node(0).admin().setCapacity(name, 0, "test", "pause");
        held.release();
        cluster.node(0).admin().setCapacity(name, 4, "test", "resume");

        try (PermitGrant all = writer.get(SOON.toMillis(), MILLISECONDS)) {
            assertThat(all.permits()).containsEntry(name, 4);
        }
    }

    private static Future<PermitGrant> acquire(int node, AcquireRequest request) {
        return Concurrently.async(() -> cluster.node(node).semaphores().acquire(request.withWaitTime(LONG)));
    }

    private static void awaitWaiting(String name, int count) {
        await().until(() -> cluster.node(0).admin().find(name).orElseThrow().waiting() >= count);
    }
}
