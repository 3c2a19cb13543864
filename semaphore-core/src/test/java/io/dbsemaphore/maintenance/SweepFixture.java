package io.dbsemaphore.maintenance;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An instance that sweeps, one that holds permits, and a semaphore of five permits. */
abstract class SweepFixture {

    static final Duration AN_HOUR = Duration.ofHours(1);

    /** An owner counts as dead when that was said twice, without a pause between. */
    @RegisterExtension
    static final Instances instances = new Instances(Instances.maintenance(800, Duration.ofHours(24), Duration.ZERO));

    final Node sweeper = instances.first();
    final Node holder = instances.second();
    final String name = instances.semaphore(5);

    /** The external id of what {@link #acquire} acquires. */
    final String id = instances.externalId();

    @AfterEach
    void leavesEverythingConsistent() {
        instances.assertConsistentAfterMaintenance();
    }

    final PermitGrant acquire(AcquireRequest request) {
        return holder.semaphores().acquire(request.withExternalId(id));
    }
}
