package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.assertj.core.api.Assertions.assertThatIllegalStateException;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitLostException;
import io.dbsemaphore.Permits;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Work under a grant, and what the assertion says inside the block of an acquire, whose grant is bound to no thread. */
class PermitsIntegrationTests {

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final Node node = cluster.node(0);

    @Test
    void tellsHowToRunUnderAGrantThatIsHeld() {
        String name = cluster.semaphore(1);

        try (PermitGrant grant = node.semaphores().acquire(AcquireRequest.of(name))) {
            assertThat(grant.isHeld()).isTrue();
            assertThatIllegalStateException()
                    .isThrownBy(() -> Permits.assertHeld(name))
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
                Permits.assertHeld(name);
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
                    Permits.assertHeld(name);
                    return "done";
                }));
    }

    @Test
    void runsWorkUnderOnePermitOfASemaphoreThatIsGivenByName() {
        String name = cluster.semaphore(2);

        int held = node.semaphores().execute(name, () -> {
            Permits.assertHeld(name);
            return Permits.current().permits().get(name);
        });
        List<PermitGrant> grants = new ArrayList<>();
        node.semaphores().run(name, () -> grants.add(Permits.current()));

        assertThat(held).isEqualTo(1);
        assertThat(grants)
                .singleElement()
                .satisfies(grant -> assertThat(grant.isHeld()).isFalse());
        assertThat(node.admin().find(name))
                .hasValueSatisfying(status -> assertThat(status.held()).isZero());
    }

    @Test
    void refusesWorkByNameWithoutWaiting() {
        String name = cluster.semaphore(2);

        try (PermitGrant all = node.semaphores().acquire(AcquireRequest.of(name, 2))) {
            assertThat(all.permits()).isEqualTo(Map.of(name, 2));
            assertThatExceptionOfType(PermitsUnavailableException.class)
                    .isThrownBy(() -> node.semaphores().run(name, () -> {
                        throw new AssertionError("ran without a permit");
                    }));
        }
    }
}
