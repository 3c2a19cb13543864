package io.dbsemaphore.engine.hold;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process that dies with its permits. */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KilledHolderIntegrationTests {

    private static final Duration START = Duration.ofSeconds(60);

    @Test
    void losesItsPermitsWhenTheirTtlHasPassed() {
        String one = SemaphoreRows.name("one");
        String two = SemaphoreRows.name("two");
        try (Schema schema = TestDatabase.createForProcesses().migrate();
                Node node = Node.on(schema);
                ChildJvm process = ChildJvm.start(SemaphoreProcess.class, schema.handOver(), "5", "10")) {
            node.admin().create(one, 1);
            node.admin().create(two, 1);
            process.awaitLine("READY", START);
            process.send("acquire of-the-dead 3 0 " + one + " " + two);
            process.awaitLine("GRANTED of-the-dead", START);
            process.kill9();
            Instant expiry = node.semaphores()
                    .find("of-the-dead")
                    .orElseThrow()
                    .expiresAt()
                    .orElseThrow();
            AcquireRequest request = AcquireRequest.of(one, two).withWaitTime(Duration.ofSeconds(20));

            PermitGrant grant = CompletableFuture.supplyAsync(
                            () -> node.semaphores().acquire(request))
                    .orTimeout(30, TimeUnit.SECONDS)
                    .join();

            Duration delay = Duration.between(expiry, grant.acquiredAt());
            assertThat(delay).as("after the TTL of the killed process").isBetween(Duration.ZERO, Duration.ofSeconds(5));
            SemaphoreRows rows = new SemaphoreRows(schema);
            rows.assertHeldByOnly(grant);
            assertThat(rows.states("of-the-dead")).containsExactly("RELEASED");
            assertThat(List.of(one, two))
                    .allSatisfy(name -> assertThat(rows.held(name)).isEqualTo(1));
        }
    }
}
