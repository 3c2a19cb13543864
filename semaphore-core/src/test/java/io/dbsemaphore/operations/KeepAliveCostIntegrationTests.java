package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import java.lang.management.ManagementFactory;
import java.time.Duration;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** What it costs to keep thousands of grants alive. */
@Slow
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL
}) // H2 works on the caller's thread
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class KeepAliveCostIntegrationTests {

    private static final int GRANTS = 5_000;
    private static final Duration TTL = Duration.ofSeconds(30);

    @Measured
    @Test
    void isAtMostATwentiethOfACoreForFiveThousandGrants() {
        Queue<PermitGrant> grants = new ConcurrentLinkedQueue<>();
        try (Schema schema = TestDatabase.create().migrate();
                Node node = Node.on(schema, TestSettings.instanceTimeout(Duration.ofSeconds(20)))) {
            String name = node.semaphore(GRANTS);
            AcquireRequest request = AcquireRequest.of(name).withTtl(TTL).withKeepAlive(true);
            Concurrently.run(100, Duration.ofSeconds(60), index -> {
                for (int i = 0; i < GRANTS / 100; i++) {
                    grants.add(node.semaphores().acquire(request));
                }
            });

            long begin = System.nanoTime();
            long cpuBefore = keepAliveCpuNanos();
            Duration interval = TTL.dividedBy(3); // in which each is renewed once
            Awaitility.await("the renewals")
                    .pollDelay(interval)
                    .atMost(interval.multipliedBy(3))
                    .untilAsserted(() -> assertThat(schema.jdbc()
                                    .queryForObject(
                                            "select count(*) from permit_request where renewed_at > created_at",
                                            Long.class))
                            .isGreaterThan(GRANTS * 9L / 10));
            double share = (double) (keepAliveCpuNanos() - cpuBefore) / (System.nanoTime() - begin);

            assertThat(grants).allMatch(PermitGrant::isHeld);
            Concurrently.run(100, Duration.ofSeconds(60), index -> {
                for (PermitGrant grant = grants.poll(); grant != null; grant = grants.poll()) {
                    grant.release();
                }
            });
            Measurement.check(() -> assertThat(share).as("share of a core").isLessThan(0.05));
        }
    }

    private static long keepAliveCpuNanos() {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> thread.getName().equals("semaphore-keep-alive"))
                .mapToLong(thread -> ManagementFactory.getThreadMXBean().getThreadCpuTime(thread.getId()))
                .sum();
    }
}
