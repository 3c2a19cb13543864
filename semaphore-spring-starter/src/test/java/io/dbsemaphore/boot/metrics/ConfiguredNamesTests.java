package io.dbsemaphore.boot.metrics;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.config.SemaphoreSettings;
import java.util.Set;
import org.junit.jupiter.api.Test;

class ConfiguredNamesTests {

    private final ConfiguredNames names =
            new ConfiguredNames(Set.of("orders"), SemaphoreSettings.defaults().withPattern("lock:*", 1));

    /** Patterns of adapters, and of a bean of the application, are not among the properties. */
    @Test
    void areThoseOfThePropertiesAndAllPatternsInEffect() {
        assertThat(names.all()).containsExactlyInAnyOrder("orders", "lock:*", "other");
        assertThat(names.of("lock:7")).isEqualTo("lock:*");
        assertThat(names.of("unknown")).isEqualTo("other");
    }
}
