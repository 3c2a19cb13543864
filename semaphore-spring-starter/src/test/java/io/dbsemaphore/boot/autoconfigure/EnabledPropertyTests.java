package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.engine.SemaphoreEngine;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;

/** The values of {@code semaphore.enabled} are those of any boolean property. */
class EnabledPropertyTests {

    private final ApplicationContextRunner host = Hosts.bare()
            .withConfiguration(AutoConfigurations.of(DataSourceAutoConfiguration.class))
            .withPropertyValues("semaphore.semaphores.backup.capacity=1");

    @ParameterizedTest
    @ValueSource(strings = {"TRUE", "on", "yes", "1"})
    void limitsAreEnforcedWithEachWordForTrue(String value) {
        host.withPropertyValues("semaphore.enabled=" + value)
                .run(context -> assertThat(context).hasSingleBean(SemaphoreEngine.class));
    }

    @ParameterizedTest
    @ValueSource(strings = {"False", "off", "no", "0"})
    void permitsAreNotCountedWithEachWordForFalse(String value) {
        host.withPropertyValues("semaphore.enabled=" + value)
                .run(context -> assertThat(context)
                        .doesNotHaveBean(SemaphoreEngine.class)
                        .hasSingleBean(UncountedPermits.Beans.class));
    }

    @ParameterizedTest
    @ValueSource(strings = {"ture", ""})
    void anotherWordKeepsTheApplicationFromStarting(String value) {
        host.withPropertyValues("semaphore.enabled=" + value)
                .run(context -> assertThat(context).getFailure().hasStackTraceContaining("semaphore.enabled"));
    }
}
