package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.RowLock;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** Another transaction has locked requests, as an operator may, not their permits. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class LockedRequestIntegrationTests {

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final Node node = cluster.node(0);
    private final String name = cluster.semaphore(100);

    @Measured
    @Test
    void delayReleasesOfOtherGrantsByOneLockWaitAtMost() throws Exception {
        List<PermitGrant> locked = Stream.generate(this::acquire).limit(20).toList();
        List<PermitGrant> free = Stream.generate(this::acquire).limit(5).toList();
        List<Future<Duration>> releases = new ArrayList<>();
        List<Duration> ofLocked = new ArrayList<>();
        List<Duration> ofFree = new ArrayList<>();
        try (RowLock lock = RowLock.begin(cluster.schema())) {
            for (PermitGrant grant : locked) {
                lock.execute("select id from permit_request where external_id = ? for update", grant.externalId());
            }
            for (PermitGrant grant : locked) {
                releases.add(Concurrently.async(() -> timeToRelease(grant)));
            }
            TimeUnit.MILLISECONDS.sleep(300);
            for (PermitGrant grant : free) { // one after the other
                ofFree.add(timeToRelease(grant));
            }
        }

        for (Future<Duration> each : releases) {
            ofLocked.add(Concurrently.get(each));
        }
        Measurement.check(() -> {
            assertThat(ofFree).allSatisfy(taken -> assertThat(taken).isLessThan(Duration.ofMillis(2_500)));
            assertThat(ofLocked) // semaphore.jdbc.lock-wait-timeout is 5 s
                    .allSatisfy(taken -> assertThat(taken).isLessThan(Duration.ofSeconds(8)));
        });
    }

    private PermitGrant acquire() {
        return node.semaphores().acquire(AcquireRequest.of(name));
    }

    private static Duration timeToRelease(PermitGrant grant) {
        long begun = System.nanoTime();
        var unused = grant.release();
        return Duration.ofNanos(System.nanoTime() - begun);
    }
}
