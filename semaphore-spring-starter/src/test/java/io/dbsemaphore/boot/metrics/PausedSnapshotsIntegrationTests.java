package io.dbsemaphore.boot.metrics;

import static org.awaitility.Awaitility.await;

import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.TestDatabase;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** While the application context is paused, as for a checkpoint, the gauges read nothing. */
class PausedSnapshotsIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(60);

    @Test
    void readNothingWhilePaused() {
        try (TestDatabase.Schema database = TestDatabase.create();
                OrdersHost host = OrdersHost.on(database, "semaphore.metrics.refresh-interval=1s")) {
            await().atMost(SOON).until(() -> capacity(host) == 1);

            host.context().pause();

            await("no scrape reads anything, and what is old is not shown")
                    .atMost(SOON)
                    .until(() -> Double.isNaN(capacity(host)));
            host.context().restart();
            await().atMost(SOON).until(() -> capacity(host) == 1);
        }
    }

    private static double capacity(OrdersHost host) {
        return host.bean(MeterRegistry.class)
                .get("semaphore.permits.capacity")
                .tag("semaphore", "orders")
                .gauge()
                .value();
    }
}
