package io.dbsemaphore.boot.metrics;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.boot.OrdersHost;
import io.dbsemaphore.testing.TcpProxy;
import io.dbsemaphore.testing.TestDatabase;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.MeterRegistry;
import java.time.Duration;
import java.util.Collection;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The gauges cost one query now and then, and a scrape does not wait for it. */
class PermitSnapshotsIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(60);

    private TestDatabase.Schema database;
    private TcpProxy proxy;
    private OrdersHost host;

    @BeforeEach
    void start() {
        TestDatabase.assumeServer();
        database = TestDatabase.create();
        proxy = database.newProxy();
        host = OrdersHost.behind(
                database.jdbcUrl(proxy),
                database,
                "spring.datasource.hikari.connection-timeout=30000",
                "semaphore.maintenance.enabled=false",
                "semaphore.metrics.refresh-interval=2s");
    }

    @AfterEach
    void stop() {
        if (host != null) {
            proxy.refuse(false);
            host.close();
            database.close();
        }
    }

    @Test
    void readsOnceForAllGaugesAndScrapes() {
        await().atMost(SOON).until(() -> held() == 0);
        proxy.clear();
        long begun = System.nanoTime();

        for (int scrape = 0; scrape < 1000; scrape++) {
            gauges().forEach(Gauge::value);
        }
        await().atMost(SOON).until(() -> reads() > 0);

        long reads = reads();
        Duration took = Duration.ofNanos(System.nanoTime() - begun);
        assertThat(reads).isBetween(1L, took.dividedBy(Duration.ofSeconds(2)) + 1);
    }

    @Test
    void doesNotMakeAScrapeWaitForADatabaseThatIsAway() {
        await().atMost(SOON).until(() -> held() == 0);
        proxy.refuse(true);
        proxy.cutAll();

        // what was read last is shown for a while, and then nothing rather than what may be long over
        await().atMost(SOON).pollInterval(Duration.ofMillis(100)).until(() -> {
            long begun = System.nanoTime();
            double held = held();
            assertThat(Duration.ofNanos(System.nanoTime() - begun))
                    .as("time of a read, less than that to wait for a connection")
                    .isLessThan(Duration.ofSeconds(25));
            return Double.isNaN(held);
        });

        proxy.refuse(false);
        await().atMost(SOON).until(() -> held() == 0);
    }

    private long reads() {
        return proxy.statements().stream()
                .filter(statement -> statement.contains("left join"))
                .count();
    }

    private double held() {
        return registry()
                .get("semaphore.permits.held")
                .tag("semaphore", "orders")
                .gauge()
                .value();
    }

    private Collection<Gauge> gauges() {
        return registry().get("semaphore.permits.held").gauges();
    }

    private MeterRegistry registry() {
        return host.bean(MeterRegistry.class);
    }
}
