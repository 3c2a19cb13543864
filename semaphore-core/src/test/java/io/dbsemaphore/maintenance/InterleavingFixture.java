package io.dbsemaphore.maintenance;

import static io.dbsemaphore.maintenance.Instances.SOON;
import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.StatementGate;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Two instances for tests that pause one of them at a statement of a request while the other goes on. */
abstract class InterleavingFixture {

    static final String REQUEST_RENEWED = "update permit_request set ttl_millis =";
    static final Duration AN_HOUR = Duration.ofHours(1);

    @RegisterExtension
    static final Instances instances = new Instances(Instances.inBatchesOf(100));

    final Node sweeper = instances.first();
    final Node holder = instances.second();

    /** The external id of the request that the two meet at. */
    final String id = instances.externalId();

    /** Otherwise the rows of semaphores would be locked by SQL until a test uses a repository. */
    @BeforeEach
    void startHibernate() {
        sweeper.admin().instances();
        holder.admin().instances();
    }

    @AfterEach
    void leavesEverythingConsistent() {
        instances.assertConsistentAfterMaintenance();
    }

    final AcquireRequest request(String name) {
        return AcquireRequest.of(name).withExternalId(id).withTtl(AN_HOUR);
    }

    static void awaitSent(StatementGate gate, String part) {
        await().atMost(SOON)
                .pollInterval(Duration.ofMillis(10))
                .untilAsserted(() -> assertThat(gate.count(part)).isPositive());
    }

    static void assertHeld(String name, PermitGrant grant) {
        assertHeld(grant);
        assertThat(instances.held(name)).isEqualTo(1);
    }

    static void assertHeld(PermitGrant grant) {
        assertThat(instances.states(grant.externalId())).containsExactly("ACQUIRED");
        assertThat(grant.isHeld()).isEqualTo(true);
        assertThat(grant.renew(AN_HOUR).permits()).isEqualTo(grant.permits());
    }

    final void assertReleased(String name) {
        assertThat(instances.states(id)).containsExactly("RELEASED");
        assertThat(instances.held(name)).isZero();
    }
}
