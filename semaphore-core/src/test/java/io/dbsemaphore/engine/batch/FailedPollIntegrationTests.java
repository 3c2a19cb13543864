package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.StatementGate.Pause;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.sql.SQLTransientException;
import java.time.Duration;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** A poll that fails after it has found what another instance has released. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FailedPollIntegrationTests {

    private static final String READS_AVAILABILITY = "s.waiters_until from semaphore s where s.id in";
    private static final String LOOKS_FOR_EXPIRED = "select distinct r.id from permit_request r";

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final String name = cluster.semaphore(1);

    @Test
    void servesTheCallerThatItHasWoken() throws Exception {
        try (Node waiting = Node.on(cluster.schema())) {
            PermitGrant held = cluster.node(0).semaphores().acquire(AcquireRequest.of(name));
            Future<PermitGrant> caller = Concurrently.async(
                    () -> waiting.semaphores().acquire(AcquireRequest.of(name).withWaitTime(Duration.ofSeconds(30))));
            Pause poll = waiting.gate().pauseBefore(READS_AVAILABILITY);
            poll.awaitReached(Duration.ofSeconds(10));
            held.release();
            waiting.gate().failAfter(LOOKS_FOR_EXPIRED, new SQLTransientException("of the look for expired permits"));
            TimeUnit.MILLISECONDS.sleep(300); // the poll looks for expired permits four times a second
            poll.open();

            PermitGrant served = caller.get(10, TimeUnit.SECONDS);

            assertThat(served.isHeld()).isTrue();
            await("the failure").until(() -> waiting.gate().count(LOOKS_FOR_EXPIRED) > 0);
            served.release();
        }
    }
}
