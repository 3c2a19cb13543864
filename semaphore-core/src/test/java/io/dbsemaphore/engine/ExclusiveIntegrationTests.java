package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitShortage;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.Map;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** The write side of a read/write lock: exclusive, whatever the capacity is or becomes. */
@Promise
class ExclusiveIntegrationTests {

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private final Node node = cluster.node(0);
    private final Node other = cluster.node(1);

    @Test
    void takesTheWholeCapacityOfEveryName() {
        String one = cluster.semaphore(3);
        String two = cluster.semaphore(1);

        PermitGrant grant =
                node.semaphores().acquire(AcquireRequest.of(one, two).exclusive());

        assertThat(grant.permits()).isEqualTo(Map.of(one, 3, two, 1));
        assertThat(cluster.held(one)).isEqualTo(3);
        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(one))).isEmpty();
        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(two))).isEmpty();
        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(one).exclusive()))
                .isEmpty();
        grant.release();
        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(one).exclusive()))
                .isPresent();
    }

    @Test
    void waitsUntilNoPermitIsHeld() throws Exception {
        String name = cluster.semaphore(3);
        PermitGrant first = other.semaphores().acquire(AcquireRequest.of(name));
        PermitGrant second = other.semaphores().acquire(AcquireRequest.of(name));
        StatementGate.Pause refused = node.gate().pauseAfter("commit");
        Future<PermitGrant> writer = Concurrently.async(() ->
                node.semaphores().acquire(AcquireRequest.of(name).exclusive().withWaitTime(Duration.ofSeconds(30))));
        refused.awaitReached(Duration.ofSeconds(20));
        refused.open();

        first.release();
        Concurrently.assertWaits(writer);
        second.release();

        assertThat(Concurrently.get(writer).permits()).containsEntry(name, 3);
    }

    @Test
    void reportsTheHeldPermits() {
        String name = cluster.semaphore(3);
        PermitGrant reader = other.semaphores().acquire(AcquireRequest.of(name));

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(
                        () -> node.semaphores().acquire(AcquireRequest.of(name).exclusive()))
                .satisfies(e -> assertThat(e.shortages())
                        .containsExactly(new PermitShortage(name, 3, 1, 3, reader.expiresAt())));
    }

    @Test
    void staysExclusiveWhenTheCapacityGrows() {
        String name = cluster.semaphore(2);
        PermitGrant writer = node.semaphores().acquire(AcquireRequest.of(name).exclusive());

        node.admin().setCapacity(name, 10, "operator", "more of them");

        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();
        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(name).exclusive()))
                .isEmpty();
        assertThat(other.admin().find(name)).get().satisfies(status -> {
            assertThat(status.capacity()).isEqualTo(10);
            assertThat(status.held()).isEqualTo(2);
            assertThat(status.available()).isZero();
        });
        writer.release();
        assertThat(other.semaphores().tryAcquire(AcquireRequest.of(name).withPermits(name, 10)))
                .isPresent();
    }

    @Test
    void isExclusiveAmongManyCallers() {
        String name = cluster.semaphore(3);
        PeakCounter readers = new PeakCounter();
        PeakCounter writers = new PeakCounter();

        Concurrently.run(8, Duration.ofSeconds(90), thread -> {
            boolean writes = thread < 2;
            for (int batch = 0; batch < 8; batch++) {
                AcquireRequest request = AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(60));
                try (PermitGrant grant =
                        cluster.node(thread).semaphores().acquire(writes ? request.exclusive() : request)) {
                    PeakCounter mine = writes ? writers : readers;
                    mine.enter();
                    if (writes) {
                        assertThat(readers.current()).isZero();
                    }
                    assertThat(writers.current()).isLessThanOrEqualTo(writes ? 1 : 0);
                    mine.leave();
                }
            }
        });

        assertThat(writers.peak()).isEqualTo(1);
        assertThat(readers.peak()).isBetween(1, 3);
    }
}
