package io.dbsemaphore.boot.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.PeakCounter;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.Optional;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.SimpleLock;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Locks whose semaphores have a reuse time are not reused, since they are not kept alive. */
class LockReuseIntegrationTests {

    private static final String PREFIX = "shedlock:";

    private final Schema schema = TestDatabase.create().migrate();
    private final Node node = Node.on(schema, settings());
    private final Node other = Node.on(schema, settings());

    private static SemaphoreSettings settings() {
        return TestSettings.defaults()
                .withPattern(PREFIX + "*", 1)
                .with(
                        SemaphoreSettings.REUSE,
                        PerSemaphore.all(Duration.ZERO).with(PREFIX + "*", Duration.ofSeconds(10)));
    }

    @AfterEach
    void close() {
        other.close();
        node.close();
        schema.close();
    }

    @Test
    void anUnlockedLockIsAvailableToOtherInstancesAtOnce() {
        for (int i = 0; i < 3; i++) {
            lock(node, Duration.ofMinutes(1)).orElseThrow().unlock();
            lock(other, Duration.ofMinutes(1)).orElseThrow().unlock();
        }
    }

    @Test
    void aLockLastsNoLongerThanItsTime() {
        lock(node, Duration.ofMinutes(1)).orElseThrow().unlock();
        Optional<SimpleLock> held = lock(node, Duration.ofSeconds(8));
        assertThat(held).isPresent();
        assertThat(lock(other, Duration.ofMinutes(1))).isEmpty();

        Awaitility.await("the end of its time")
                .atMost(Duration.ofSeconds(30))
                .until(() -> lock(other, Duration.ofMinutes(1)), Optional::isPresent);
    }

    @Test
    void twoInstancesNeverHaveTheLock() {
        PeakCounter holders = new PeakCounter();
        List<Node> both = List.of(node, other);

        Concurrently.run(4, Duration.ofSeconds(60), thread -> {
            for (int i = 0; i < 50; i++) {
                lock(both.get(thread % 2), Duration.ofMinutes(1)).ifPresent(lock -> {
                    holders.enter();
                    holders.leave();
                    lock.unlock();
                });
            }
        });

        assertThat(holders.peak()).isEqualTo(1);
    }

    private static Optional<SimpleLock> lock(Node by, Duration atMost) {
        return LockProviderFixture.provider(by)
                .lock(new LockConfiguration(Instant.now(), "nightly", atMost, Duration.ZERO));
    }
}
