package io.dbsemaphore.boot.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.boot.autoconfigure.SemaphoreProperties;
import io.dbsemaphore.config.SemaphorePatterns;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.springframework.boot.context.properties.bind.Binder;
import org.springframework.boot.context.properties.source.MapConfigurationPropertySource;

class ConfiguredNamesTests {

    private final ConfiguredNames names = new ConfiguredNames(
            new Binder(new MapConfigurationPropertySource(Map.of("semaphore.semaphores.orders.capacity", "3")))
                    .bind("semaphore", SemaphoreProperties.class)
                    .get(),
            SemaphorePatterns.NONE.withPattern("lock:*", 1));

    /** Patterns of adapters, and of a bean of the application, are not among the properties. */
    @Test
    void areThoseOfThePropertiesAndAllPatternsInEffect() {
        assertThat(names.all()).containsExactlyInAnyOrder("orders", "lock:*", "other");
        assertThat(names.of("lock:7")).isEqualTo("lock:*");
        assertThat(names.of("unknown")).isEqualTo("other");
    }
}
