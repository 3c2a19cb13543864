package io.dbsemaphore.boot.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.TestDatabase;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.concurrent.CompletableFuture;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** While the engine does not run, as when its application context is paused for a checkpoint, the gauges read nothing. */
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

    @Test
    @Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
    void neitherWaitNorFailBeforeTheEngineHasStartedAndAfterItsEnd() {
        CompletableFuture<Void> mayStart = new CompletableFuture<>();
        try (TestDatabase.Schema database = TestDatabase.create().migrate();
                SemaphoreEngine engine = SemaphoreEngine.inBackground(
                        database.newPool(6),
                        SemaphoreSettings.defaults(),
                        List::of,
                        List::of,
                        List::of,
                        () -> null,
                        script -> mayStart.join(),
                        Duration.ZERO,
                        admin -> admin.create("orders", 1))) {
            PermitSnapshots snapshots = new PermitSnapshots(
                    engine.admin(),
                    new ConfiguredNames(Set.of("orders"), SemaphoreSettings.defaults()),
                    Duration.ofHours(1),
                    engine::every,
                    System::nanoTime,
                    () -> 0);
            assertThat(snapshots.sum("orders", SemaphoreStatus::capacity)).isNaN();
            mayStart.complete(null);
            await("a reading at once")
                    .atMost(SOON)
                    .until(() -> snapshots.sum("orders", SemaphoreStatus::capacity) == 1);

            engine.close();

            assertThat(snapshots.sum("orders", SemaphoreStatus::capacity))
                    .as("the last reading")
                    .isEqualTo(1);
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
