package io.dbsemaphore.boot.autoconfigure;

import static io.dbsemaphore.boot.autoconfigure.Hosts.assertStartFails;
import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.SemaphoreSettings;
import java.util.Map;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.core.annotation.Order;

/** Beans that change the settings that come from the properties. */
@ExtendWith(OutputCaptureExtension.class)
class SemaphoreSettingsCustomizerTests {

    @Test
    void theEngineHasTheChangedSettings() {
        Hosts.jdbc()
                .withBean(SemaphoreSettingsCustomizer.class, () -> settings -> settings.withPattern("job:*", 2))
                .withPropertyValues("semaphore.patterns.[tenant-*].capacity=3")
                .run(context -> {
                    assertThat(context.getBean(SemaphoreSettings.class).get(SemaphoreSettings.PATTERNS))
                            .isEqualTo(Map.of("job:*", 2, "tenant-*", 3));
                    context.getBean(SemaphoreTemplate.class).run("job:nightly", () -> {});
                });
    }

    @Test
    void areCalledInTheirOrder() {
        Hosts.jdbc()
                .withUserConfiguration(Doubling.class)
                .withPropertyValues("semaphore.jdbc.max-attempts=5")
                .run(context -> assertThat(
                                context.getBean(SemaphoreSettings.class).get(SemaphoreSettings.MAX_ATTEMPTS))
                        .isEqualTo((5 + 1) * 2));
    }

    @Test
    void failTheStartWithSettingsThatCannotBeUsed(CapturedOutput output) {
        assertStartFails(BeanCreationException.class, Refusing.class);

        assertThat(output).contains("APPLICATION FAILED TO START").contains("jobs.capacity must be at least 0: -1.");
    }

    @Configuration(proxyBeanMethods = false)
    static class Doubling {

        @Bean
        @Order(2)
        SemaphoreSettingsCustomizer doubling() {
            return settings ->
                    settings.with(SemaphoreSettings.MAX_ATTEMPTS, settings.get(SemaphoreSettings.MAX_ATTEMPTS) * 2);
        }

        @Bean
        @Order(1)
        SemaphoreSettingsCustomizer incrementing() {
            return settings ->
                    settings.with(SemaphoreSettings.MAX_ATTEMPTS, settings.get(SemaphoreSettings.MAX_ATTEMPTS) + 1);
        }
    }

    @Configuration(proxyBeanMethods = false)
    @Import(Hosts.OnDataSource.class)
    static class Refusing {

        @Bean
        SemaphoreSettingsCustomizer refusing() {
            return settings -> {
                throw new IllegalArgumentException("jobs.capacity must be at least 0: -1");
            };
        }
    }
}
