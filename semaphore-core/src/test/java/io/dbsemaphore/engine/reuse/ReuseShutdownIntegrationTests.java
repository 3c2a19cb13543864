package io.dbsemaphore.engine.reuse;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.LoggedWarnings;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Cluster;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.RegisterExtension;

/** An orderly shutdown leaves no idle permit behind: the next instance is not refused. */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ReuseShutdownIntegrationTests {

    private static final int SEMAPHORES = 64;
    private static final int PERMITS = 2_000;
    private static final int CAPACITY = 32;
    private static final int THREADS = 32;
    private static final int ROUNDS = 6;

    @RegisterExtension
    static final Cluster cluster = new Cluster(1);

    private final List<String> names = IntStream.range(0, SEMAPHORES)
            .mapToObj(i -> cluster.semaphore(CAPACITY))
            .toList();

    @Test
    void givesBackAllIdlePermits() {
        for (int round = 1; round <= ROUNDS; round++) {
            Node node = cluster.start(cluster.schema().newPool(10), settings());
            List<PermitGrant> grants = acquireAll(node);
            assertThat(heldPermits()).as("held in round %d", round).isEqualTo(PERMITS);
            grants.forEach(PermitGrant::release);

            List<String> warnings = LoggedWarnings.of("io.dbsemaphore", node::close);

            assertThat(heldPermits()).as("left in round %d", round).isZero();
            assertThat(warnings).as("warnings of round %d", round).isEmpty();
        }
    }

    /** Each caller is granted its permit at once, without a wait time: whatever the instance before has left would refuse some. */
    private List<PermitGrant> acquireAll(Node node) {
        List<List<PermitGrant>> grants = Concurrently.call(THREADS, Duration.ofSeconds(60), thread -> {
            List<PermitGrant> own = new ArrayList<>();
            for (int i = thread; i < PERMITS; i += THREADS) {
                own.add(node.semaphores()
                        .acquire(AcquireRequest.of(names.get(i % SEMAPHORES)).withKeepAlive(true)));
            }
            return own;
        });
        return grants.stream().flatMap(List::stream).toList();
    }

    private long heldPermits() {
        return names.stream().mapToLong(cluster::held).sum();
    }

    private static SemaphoreSettings settings() {
        return TestSettings.defaults()
                .with(SemaphoreSettings.REUSE, PerSemaphore.all(Duration.ZERO).with("s*", Duration.ofSeconds(5)));
    }
}
