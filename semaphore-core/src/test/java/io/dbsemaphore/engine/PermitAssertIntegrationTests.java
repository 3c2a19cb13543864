package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitAssert;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.Permits;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** What the assertion says inside the block of an acquire, whose grant is bound to no thread. */
class PermitAssertIntegrationTests {

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final Node node = cluster.node(0);

    @Test
    void tellsHowToRunUnderAGrantThatIsHeld() {
        String name = cluster.semaphore(1);

        try (PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name))) {
            assertThat(grant.isHeld()).isTrue();
            assertThatIllegalStateException()
                    .isThrownBy(() -> PermitAssert.assertHeld(name))
                    .withMessageStartingWith("This thread does not run under a permit of semaphore '" + name + "'.")
                    .withMessageContaining("Permits.callHolding(grant, work)")
                    .withMessageNotContaining("holds no permit")
                    .withMessageNotContaining("not enforced");
        }
    }

    @Test
    void passesInWorkThatRunsUnderTheGrant() {
        String name = cluster.semaphore(1);

        try (PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name))) {
            String result = Permits.callHolding(grant, held -> {
                PermitAssert.assertHeld(name);
                return "done";
            });

            assertThat(result).isEqualTo("done");
        }
    }

    @Test
    void findsAGrantLostThatWorkStillRunsUnder() {
        String name = cluster.semaphore(1);
        PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name));

        assertThatExceptionOfType(PermitLostException.class)
                .isThrownBy(() -> Permits.callHolding(grant, held -> {
                    held.release();
                    PermitAssert.assertHeld(name);
                    return "done";
                }));
    }
}
