package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.boot.autoconfigure.SemaphoreProperties.Declared;
import io.dbsemaphore.config.HostTransaction;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.SemaphoreSettings;
import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.context.properties.EnableConfigurationProperties;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.json.JsonParserFactory;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.UrlResource;

class SemaphorePropertiesTests {

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withUserConfiguration(PropertiesConfiguration.class);

    @Test
    void haveTheDefaultsOfTheEngine() {
        runner.run(context -> {
            SemaphoreProperties properties = context.getBean(SemaphoreProperties.class);
            SemaphoreSettings defaults = SemaphoreSettings.defaults();

            assertThat(properties.toSettings(defaults.owner())).isEqualTo(defaults);
            assertThat(properties.enabled()).isTrue();
            assertThat(properties.datasource()).isNull();
            assertThat(properties.semaphores()).isEmpty();
            assertThat(properties.maintenance().toSettings()).isEqualTo(MaintenanceSettings.defaults());
            assertThat(properties.aop().order()).isEqualTo(1000);
            assertThat(properties.liquibase().enabled()).isFalse();
        });
    }

    @Test
    void reachTheSettingsOfTheEngine() {
        runner.withPropertyValues(
                        "semaphore.owner=billing",
                        "semaphore.table-prefix=app_",
                        "semaphore.default-ttl=1m",
                        "semaphore.max-ttl=1h",
                        "semaphore.max-hold=2h",
                        "semaphore.keep-alive-interval=10s",
                        "semaphore.instance-timeout=30s",
                        "semaphore.shutdown-timeout=5s",
                        "semaphore.lock-wait-timeout=2s",
                        "semaphore.decision-timeout=3s",
                        "semaphore.session-idle-limit=4s",
                        "semaphore.max-attempts=7",
                        "semaphore.max-names-per-request=9",
                        "semaphore.max-batch-size=11",
                        "semaphore.max-connections=2",
                        "semaphore.pipelining=false",
                        "semaphore.host-transaction=refuse")
                .run(context -> assertThat(
                                context.getBean(SemaphoreProperties.class).toSettings("not asked for"))
                        .isEqualTo(new SemaphoreSettings(
                                "billing",
                                "app_",
                                Duration.ofMinutes(1),
                                Duration.ofHours(1),
                                Duration.ofHours(2),
                                Duration.ofSeconds(10),
                                Duration.ofSeconds(30),
                                Duration.ofSeconds(5),
                                Duration.ofSeconds(2),
                                Duration.ofSeconds(3),
                                Duration.ofSeconds(4),
                                7,
                                9,
                                11,
                                2,
                                false,
                                HostTransaction.REFUSE)));
    }

    @Test
    void keepNamesInBracketsAsTheyAre() {
        runner.withInitializer(properties(Map.of(
                        "semaphore.semaphores.[tenant:a].capacity", "3",
                        "semaphore.semaphores.[eu.west/Nightly_Run 1].capacity", "0",
                        "semaphore.semaphores.Backup.capacity", "1")))
                .run(context -> assertThat(
                                context.getBean(SemaphoreProperties.class).semaphores())
                        .containsOnly(
                                Map.entry("tenant:a", new Declared(3)),
                                Map.entry("eu.west/Nightly_Run 1", new Declared(0)),
                                Map.entry("Backup", new Declared(1))));
    }

    @Test
    void keepNamesInBracketsOfYamlAsTheyAre() {
        String yaml = """
                semaphore:
                  semaphores:
                    "[tenant:a]":
                      capacity: 3
                """;
        runner.withInitializer(context -> {
                    try {
                        new YamlPropertySourceLoader()
                                .load("yaml", new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)))
                                .forEach(context.getEnvironment().getPropertySources()::addLast);
                    } catch (IOException e) {
                        throw new IllegalStateException(e);
                    }
                })
                .run(context -> assertThat(
                                context.getBean(SemaphoreProperties.class).semaphores())
                        .containsOnlyKeys("tenant:a"));
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            value = {
                "semaphore.semaphores.backup.capacity=-1 | semaphore.semaphores.backup.capacity must be at least 0: -1",
                "semaphore.semaphores.[tenant:a].capacity=-2 | semaphore.semaphores.[tenant:a].capacity must be at least 0: -2",
                "semaphore.semaphores.[ a].capacity=1 | semaphore.semaphores.[ a] is not valid. The semaphore name must not begin or end with a space",
                "semaphore.owner=a\u0001b | semaphore.owner is not valid",
                "semaphore.table-prefix=a-b | semaphore.table-prefix must be up to 30 letters, digits, _: a-b",
                "semaphore.default-ttl=10 | semaphore.default-ttl must be between PT1S and max-ttl: PT0.01S",
                "semaphore.default-ttl=31d | semaphore.default-ttl must be between PT1S and max-ttl",
                "semaphore.max-ttl=4000d | semaphore.max-ttl must be at most ten years",
                "semaphore.max-hold=0s | semaphore.max-hold must be positive",
                "semaphore.lock-wait-timeout=100ms | semaphore.lock-wait-timeout must be at least a second",
                "semaphore.decision-timeout=0s | semaphore.decision-timeout must be at least a second: PT0S",
                "semaphore.session-idle-limit=4s | semaphore.session-idle-limit must be not below lock-wait-timeout",
                "semaphore.max-attempts=0 | semaphore.max-attempts must be at least 1: 0",
                "semaphore.max-names-per-request=0 | semaphore.max-names-per-request must be at least 1: 0",
                "semaphore.max-batch-size=0 | semaphore.max-batch-size must be at least 1: 0",
                "semaphore.max-connections=0 | semaphore.max-connections must be at least 1: 0"
            })
    void refuseWhatCannotWork(String property, String message) {
        String[] keyAndValue = property.split("=");
        runner.withInitializer(properties(Map.of(keyAndValue[0], keyAndValue[1])))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(IllegalArgumentException.class)
                        .hasMessageContaining(message));
    }

    @ParameterizedTest
    @ValueSource(strings = {"many", ""})
    void nameThePropertyOfAValueThatIsNoNumber(String value) {
        runner.withPropertyValues("semaphore.semaphores.backup.capacity=" + value)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("'semaphore.semaphores.backup.capacity'"));
    }

    @Test
    void areAllDescribedForEditors() throws IOException {
        assertThat(describedProperties())
                .containsOnlyKeys(
                        "management.endpoint.semaphores.access",
                        "management.endpoint.semaphores.cache.time-to-live",
                        "semaphore.endpoint.force-release-enabled",
                        "semaphore.endpoint.set-capacity-enabled",
                        "semaphore.metrics.enabled",
                        "semaphore.metrics.refresh-interval",
                        "semaphore.instance-timeout",
                        "semaphore.keep-alive-interval",
                        "semaphore.shutdown-timeout",
                        "semaphore.max-pattern-semaphores",
                        "semaphore.patterns",
                        "semaphore.maintenance.batch-size",
                        "semaphore.maintenance.enabled",
                        "semaphore.maintenance.history-cleanup-interval",
                        "semaphore.maintenance.history-retention",
                        "semaphore.maintenance.orphan-release-interval",
                        "semaphore.maintenance.owner-grace",
                        "semaphore.maintenance.pattern-idle-after",
                        "semaphore.maintenance.request-cleanup-interval",
                        "semaphore.maintenance.request-retention",
                        "semaphore.maintenance.stale-after",
                        "semaphore.aop.allow-unknown-names",
                        "semaphore.aop.order",
                        "semaphore.capacity-at-start",
                        "semaphore.datasource",
                        "semaphore.decision-timeout",
                        "semaphore.default-ttl",
                        "semaphore.enabled",
                        "semaphore.host-transaction",
                        "semaphore.liquibase.enabled",
                        "semaphore.lock-wait-timeout",
                        "semaphore.max-attempts",
                        "semaphore.max-batch-size",
                        "semaphore.max-connections",
                        "semaphore.max-hold",
                        "semaphore.max-names-per-request",
                        "semaphore.max-ttl",
                        "semaphore.owner",
                        "semaphore.pipelining",
                        "semaphore.schema-wait",
                        "semaphore.semaphores",
                        "semaphore.session-idle-limit",
                        "semaphore.table-prefix")
                .allSatisfy((name, description) -> assertThat(description).isNotBlank());
    }

    /** As they are; {@code withPropertyValues} takes a colon for the end of the key. */
    private static ApplicationContextInitializer<ConfigurableApplicationContext> properties(
            Map<String, String> properties) {
        return context -> TestPropertyValues.of(properties).applyTo(context);
    }

    @SuppressWarnings("unchecked")
    private static Map<String, String> describedProperties() throws IOException {
        URL classes =
                SemaphoreProperties.class.getProtectionDomain().getCodeSource().getLocation();
        String metadata = new UrlResource(classes)
                .createRelative("META-INF/spring-configuration-metadata.json")
                .getContentAsString(StandardCharsets.UTF_8);
        List<Object> properties = (List<Object>)
                JsonParserFactory.getJsonParser().parseMap(metadata).get("properties");
        return properties.stream()
                .map(property -> (Map<String, Object>) property)
                .collect(Collectors.toMap(property -> (String) property.get("name"), property ->
                        (String) property.getOrDefault("description", "")));
    }

    @EnableConfigurationProperties(SemaphoreProperties.class)
    static class PropertiesConfiguration {}
}
