package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import java.util.Locale;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.core.env.SystemEnvironmentPropertySource;

/** A property under a former name fails the start, with the new name, wherever it comes from. */
@ExtendWith(OutputCaptureExtension.class)
class RenamedPropertiesTests {

    static Stream<Arguments> spellings() {
        return RenamedProperties.RENAMED.entrySet().stream().flatMap(renamed -> {
            String former = renamed.getKey();
            String variable = former.replace('.', '_').toUpperCase(Locale.ROOT);
            return Stream.of(former, camelCase(former), variable.replace("-", ""), variable.replace('-', '_'))
                    .distinct()
                    .map(spelling -> Arguments.of(spelling, former, renamed.getValue()));
        });
    }

    private static String camelCase(String name) {
        return Stream.of(name.split("-"))
                .reduce((begin, word) -> begin + word.substring(0, 1).toUpperCase(Locale.ROOT) + word.substring(1))
                .orElseThrow();
    }

    @ParameterizedTest
    @MethodSource("spellings")
    void failsTheStartWithTheNewName(String spelling, String former, String name) {
        assertThat(former).isNotEqualTo(name);
        Hosts.bare()
                .withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new SystemEnvironmentPropertySource(
                                "test-systemEnvironment", Map.of(spelling, "${unknown}"))))
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(SemaphoreConfigurationException.class)
                        .hasMessageContaining("    %s is now %s: ".formatted(former, name))
                        .hasMessageContaining(spelling)
                        .hasMessageContaining("test-systemEnvironment"));
    }

    @Test
    void namesAllOfThemInOneMessage(CapturedOutput output) {
        Hosts.assertStartFails(
                SemaphoreConfigurationException.class,
                Hosts.OnDataSource.class,
                "semaphore.max-hold=1h",
                "semaphore.table-prefix=app_",
                "semaphore.endpoint.page-enabled=false");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("Properties of the semaphores have been renamed.")
                .contains("    semaphore.endpoint.page-enabled is now management.endpoint.semaphores.page-enabled: ")
                .contains("    semaphore.max-hold is now semaphore.defaults.max-hold: ")
                .contains("    semaphore.table-prefix is now semaphore.jdbc.table-prefix: ")
                .contains("Use the new names.");
    }

    @Test
    void failsWithoutLimitsAndWithOnlyOneOfTheAutoConfigurations() {
        Hosts.bare()
                .withPropertyValues("semaphore.enabled=false", "semaphore.fair=false")
                .run(context -> assertThat(context).getFailure().hasMessageContaining("semaphore.defaults.fair"));
        Hosts.jdbc()
                .withPropertyValues("semaphore.default-ttl=1m")
                .run(context -> assertThat(context).getFailure().hasMessageContaining("semaphore.defaults.ttl"));
        new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(SemaphoreAutoConfiguration.class))
                .withUserConfiguration(Wirings.TwoOnePrimary.class)
                .withPropertyValues("semaphore.max-connections=2")
                .run(context ->
                        assertThat(context).getFailure().hasMessageContaining("semaphore.jdbc.max-connections"));
    }
}
