package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.admin.PermitHolder;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import org.assertj.core.api.ThrowableAssertAlternative;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A refused caller is told who holds the permits, and neither waits for that nor burdens the database. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RefusalIntegrationTests {

    private static final String READING = "r.owner, r.instance";

    @RegisterExtension
    static final Cluster cluster = new Cluster(2);

    private final Node node = cluster.node(0);
    private final Node other = cluster.node(1);

    @Test
    void saysWhoHoldsThePermitsAndSinceWhen() {
        String name = cluster.semaphore(2);
        PermitGrant kept = other.semaphores()
                .acquire(AcquireRequest.of(name).withOwner("nightly").withKeepAlive(true));
        PermitGrant leased = other.semaphores().acquire(AcquireRequest.of(name).withOwner("by hand"));
        PermitHolder holder = node.admin().holders(name).get(0);

        awaitRefusal(name)
                .withMessageContaining(
                        "2 of 2 held, in the last second longest by nightly (instance %d) since %s, by hand since %s",
                        holder.instance().orElseThrow().id(), kept.acquiredAt(), leased.acquiredAt());
        leased.release();
        kept.release();
    }

    /** A refusal that names holders: on a busy machine the first reading may come too late for its caller. */
    private ThrowableAssertAlternative<PermitsUnavailableException> awaitRefusal(String name) {
        return Awaitility.await()
                .until(
                        () -> assertThatExceptionOfType(PermitsUnavailableException.class)
                                .isThrownBy(() -> node.semaphores().execute(AcquireRequest.of(name), grant -> "never")),
                        refused -> refused.actual().getMessage().contains("longest by"));
    }

    /** The holders were read for an earlier refusal. */
    @Test
    void namesNobodyWhereNothingIsHeld() {
        String name = cluster.semaphore(1);
        PermitGrant released = other.semaphores().acquire(AcquireRequest.of(name));
        awaitRefusal(name);
        released.release();
        node.admin().setCapacity(name, 0, "test", "paused");

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(name)))
                .withMessageContaining("is paused: 0 of 0 held. Nothing was acquired");
    }

    @Test
    void namesThreeOfMany() {
        String name = cluster.semaphore(5);
        List<PermitGrant> held = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            held.add(other.semaphores().acquire(AcquireRequest.of(name).withOwner("holder" + i)));
        }

        awaitRefusal(name)
                .withMessageContaining("longest by holder0 since ")
                .withMessageContaining(", holder2 since ")
                .withMessageNotContaining("holder3")
                .withMessageContaining("SemaphoreAdmin.holders lists all holders");
        held.forEach(PermitGrant::release);
    }

    @Test
    void readsTheHoldersOnceForManyCallers() throws Exception {
        String name = cluster.semaphore(1);
        PermitGrant held = other.semaphores().acquire(AcquireRequest.of(name));
        long before = node.gate().count(READING);
        long begun = System.nanoTime();
        List<Future<?>> refused = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            refused.add(Concurrently.async(() -> assertThatExceptionOfType(PermitsUnavailableException.class)
                    .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(name)))));
        }
        for (Future<?> each : refused) {
            Concurrently.get(each);
        }

        Awaitility.await().until(() -> node.gate().count(READING) > before);
        long seconds = Duration.ofNanos(System.nanoTime() - begun).toSeconds();
        assertThat(node.gate().count(READING) - before).isLessThanOrEqualTo(2 + seconds);
        held.release();
    }

    @Test
    void doesNotReadTheHoldersForACallerThatGetsNoException() {
        String name = cluster.semaphore(1);
        PermitGrant held = other.semaphores().acquire(AcquireRequest.of(name));
        long before = node.gate().count(READING);

        assertThat(node.semaphores().tryAcquire(AcquireRequest.of(name))).isEmpty();

        assertThat(node.gate().count(READING)).isEqualTo(before);
        held.release();
    }

    @Measured
    @Test
    void doesNotWaitForADatabaseThatDoesNotSay() {
        String name = cluster.semaphore(1);
        PermitGrant held = other.semaphores().acquire(AcquireRequest.of(name));
        StatementGate.Pause reading = node.gate().pauseBefore(READING);
        long begun = System.nanoTime();

        assertThatExceptionOfType(PermitsUnavailableException.class)
                .isThrownBy(() -> node.semaphores().acquire(AcquireRequest.of(name)))
                .withMessageContaining("1 of 1 held; without a release");

        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        reading.awaitReached(Duration.ofSeconds(5));
        reading.open();
        held.release();
        Measurement.check(() -> assertThat(took).isLessThan(Duration.ofSeconds(5)));
    }
}
