package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.locks.LockSupport;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Within one JVM callers are served first come, first served, whatever batch asks the database for them. */
@Slow
@Timeout(value = 180, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class OneInstanceOrderIntegrationTests {

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final Node node = cluster.node(0);
    private final String name = cluster.semaphore(1);

    /** One thread submits all of them, so that their order is known. */
    @ParameterizedTest(name = "{0} callers every {1} µs")
    @CsvSource({"300, 3000", "600, 1000", "2000, 0"})
    void servesCallersInTheOrderOfTheirArrival(int callers, long everyMicros) throws Exception {
        ConcurrentLinkedQueue<Integer> served = new ConcurrentLinkedQueue<>();
        List<CompletableFuture<PermitGrant>> all = new ArrayList<>();
        AcquireRequest request = AcquireRequest.of(name).withWaitTime(Duration.ofMinutes(2));
        PermitGrant first = node.semaphores().acquire(request);
        long next = System.nanoTime();
        for (int i = 0; i < callers; i++) {
            int caller = i;
            CompletableFuture<PermitGrant> acquire = node.semaphores().acquireAsync(request);
            all.add(acquire);
            var unused = acquire.thenAccept(grant -> {
                served.add(caller);
                grant.release();
            });
            next += TimeUnit.MICROSECONDS.toNanos(everyMicros);
            while (System.nanoTime() < next) {
                LockSupport.parkNanos(next - System.nanoTime());
            }
            if (i == callers / 10) {
                first.release();
            }
        }
        for (CompletableFuture<PermitGrant> acquire : all) {
            acquire.get(2, TimeUnit.MINUTES);
        }

        List<Integer> order = List.copyOf(served);
        List<Integer> late = new ArrayList<>();
        int latest = -1;
        for (int caller : order) {
            if (caller < latest) {
                late.add(caller);
            }
            latest = Math.max(latest, caller);
        }
        assertThat(late).as("served after a later caller").isEmpty();
    }
}
