package io.dbsemaphore.boot.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.TestDatabase;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.time.Duration;
import java.util.Set;
import org.junit.jupiter.api.Test;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** Acquires without a transaction are counted apart. */
class ReusedGrantMetersIntegrationTests {

    private final SimpleMeterRegistry registry = new SimpleMeterRegistry();
    private final ConfiguredNames names = new ConfiguredNames(Set.of("orders"), SemaphoreSettings.defaults());

    @Test
    void countReusesBesideGrants() {
        SemaphoreSettings settings = SemaphoreSettings.defaults()
                .with(SemaphoreSettings.REUSE, PerSemaphore.all(Duration.ZERO).with("orders", Duration.ofSeconds(10)));
        try (TestDatabase.Schema schema = TestDatabase.create().migrate();
                SemaphoreEngine engine = new SemaphoreEngine(
                        new DriverManagerDataSource(schema.jdbcUrl(), schema.username(), schema.password()),
                        settings)) {
            engine.admin().create("orders", 1);
            SemaphoreTemplate semaphores = new SemaphoreTemplate(new InstrumentedPermitManager(
                    engine.permitManager(),
                    names,
                    new SemaphoreMetrics(registry, names),
                    new AcquireObservations(ObservationRegistry.NOOP)));

            for (int i = 0; i < 5; i++) {
                semaphores.executeWithoutResult(AcquireRequest.of("orders"), grant -> {});
            }

            assertThat(count("granted")).isEqualTo(1);
            assertThat(count("reused")).isEqualTo(4);
        }
    }

    private long count(String outcome) {
        return registry.get("semaphore.acquire")
                .tags("semaphore", "orders", "outcome", outcome)
                .timer()
                .count();
    }
}
