package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.boot.autoconfigure.SemaphoreProperties.Declared;
import io.dbsemaphore.config.HostTransaction;
import io.dbsemaphore.config.MaintenanceSettings;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphorePatterns;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.config.Setting;
import java.io.IOException;
import java.net.URL;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
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
import org.springframework.context.annotation.Bean;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.UrlResource;
import org.springframework.util.ReflectionUtils;

class SemaphorePropertiesTests {

    private final ApplicationContextRunner runner =
            new ApplicationContextRunner().withUserConfiguration(PropertiesConfiguration.class);

    @Test
    void leaveTheDefaultsToTheEngine() {
        runner.run(context -> {
            SemaphoreProperties properties = context.getBean(SemaphoreProperties.class);

            assertThat(context.getBean(SemaphoreSettings.class))
                    .satisfies(settings ->
                            assertThat(settings).hasToString(onlyOwner().toString()));
            assertThat(context.getBean(SemaphorePatterns.class)).isEqualTo(SemaphorePatterns.NONE);
            assertThat(properties.enabled()).isTrue();
            assertThat(properties.datasource()).isNull();
            assertThat(properties.semaphores()).isEmpty();
            assertThat(properties.aop().order()).isEqualTo(1000);
            assertThat(properties.liquibase().enabled()).isFalse();
        });
    }

    @Test
    void describeTheDefaultsOfTheEngineForEditors() throws IOException {
        Map<String, Object> described = described("defaultValue");

        assertThat(settings().map(Setting::property)).isSubsetOf(described.keySet());
        runner.withPropertyValues(described.entrySet().stream()
                        .filter(property -> property.getValue() != null)
                        .map(property -> property.getKey() + "=" + property.getValue())
                        .toArray(String[]::new))
                .run(context -> {
                    SemaphoreSettings documented = context.getBean(SemaphoreSettings.class);
                    assertThat(settings())
                            .allSatisfy(setting -> assertThat(documented.get(setting))
                                    .as(setting.property())
                                    .isEqualTo(onlyOwner().get(setting)));
                    assertThat(context.getBean(SemaphorePatterns.class)).isEqualTo(SemaphorePatterns.NONE);
                });
        assertThat(settings().map(Setting::property).filter(property -> described.get(property) == null))
                .containsExactlyInAnyOrder("semaphore.owner", "semaphore.decision-timeout");
    }

    @Test
    void reachTheSettingsOfTheEngine() {
        Map<String, Object> values = Map.ofEntries(
                Map.entry("semaphore.owner", "billing"),
                Map.entry("semaphore.table-prefix", "app_"),
                Map.entry("semaphore.max-attempts", 7),
                Map.entry("semaphore.max-names-per-request", 9),
                Map.entry("semaphore.max-batch-size", 11),
                Map.entry("semaphore.max-connections", 2),
                Map.entry("semaphore.pipelining", false),
                Map.entry("semaphore.fair", false),
                Map.entry("semaphore.host-transaction", HostTransaction.REFUSE),
                Map.entry("semaphore.maintenance.enabled", false),
                Map.entry("semaphore.maintenance.batch-size", 12));
        Map<String, Object> all = new TreeMap<>(values);
        // the others are durations; each is another one, in an order that fits
        long[] seconds = {3600};
        settings()
                .map(Setting::property)
                .sorted()
                .forEach(property -> all.computeIfAbsent(property, added -> Duration.ofSeconds(++seconds[0])));

        runner.withPropertyValues(all.entrySet().stream()
                        .map(property -> property.getKey() + "=" + property.getValue())
                        .toArray(String[]::new))
                .run(context -> assertThat(settings())
                        .allSatisfy(setting -> assertThat(
                                        context.getBean(SemaphoreSettings.class).get(setting))
                                .as(setting.property())
                                .isEqualTo(
                                        setting == SemaphoreSettings.FAIR
                                                ? PerSemaphore.all(false)
                                                : all.get(setting.property()))));
    }

    @Test
    void tellWhichSemaphoresAreFair() {
        runner.withInitializer(properties(Map.of(
                        "semaphore.fair", "false",
                        "semaphore.semaphores.backup.capacity", "1",
                        "semaphore.semaphores.backup.fair", "true",
                        "semaphore.patterns.[tenant:*].capacity", "1",
                        "semaphore.patterns.[tenant:*].fair", "true")))
                .run(context -> {
                    PerSemaphore<Boolean> fair =
                            context.getBean(SemaphoreSettings.class).get(SemaphoreSettings.FAIR);
                    assertThat(fair.of("backup")).isTrue();
                    assertThat(fair.of("tenant:a")).isTrue();
                    assertThat(fair.of("other")).isFalse();
                });
    }

    @Test
    void collectTheReuseTimesOfNamesAndPatterns() {
        runner.withInitializer(properties(Map.of(
                        "semaphore.semaphores.partner.capacity", "3",
                        "semaphore.semaphores.partner.reuse", "250ms",
                        "semaphore.semaphores.backup.capacity", "3",
                        "semaphore.patterns.[tenant:*].capacity", "3",
                        "semaphore.patterns.[tenant:*].reuse", "1s")))
                .run(context -> {
                    PerSemaphore<Duration> reuse =
                            context.getBean(SemaphoreSettings.class).get(SemaphoreSettings.REUSE);
                    assertThat(reuse.of("partner")).isEqualTo(Duration.ofMillis(250));
                    assertThat(reuse.of("tenant:a")).isEqualTo(Duration.ofSeconds(1));
                    assertThat(reuse.of("backup")).isZero();
                });
    }

    @Test
    void refuseAReuseTimeThatIsTooLong() {
        runner.withPropertyValues("semaphore.semaphores.partner.capacity=3", "semaphore.semaphores.partner.reuse=1m")
                .run(context -> assertThat(context.getStartupFailure())
                        .rootCause()
                        .hasMessageContainingAll(
                                "semaphore.semaphores.<name>.reuse", "between 10ms and 10s", "partner"));
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
                                Map.entry("tenant:a", new Declared(3, null, null)),
                                Map.entry("eu.west/Nightly_Run 1", new Declared(0, null, null)),
                                Map.entry("Backup", new Declared(1, null, null))));
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
                "semaphore.owner=a\u0001b | The semaphore.owner must not contain control characters",
                "semaphore.table-prefix=a-b | semaphore.table-prefix must be up to 30 letters, digits, _, but is a-b: no table can be named so",
                "semaphore.default-ttl=10 | semaphore.default-ttl must be at least PT1S, but is PT0.01S: a grant would expire",
                "semaphore.default-ttl=31d | semaphore.default-ttl must be at most PT720H, but is PT744H: requests without a TTL would be refused",
                "semaphore.max-ttl=4000d | semaphore.max-ttl must be at most PT87600H, but is PT96000H: for grants that last until released",
                "semaphore.max-hold=0s | semaphore.max-hold must be positive, but is PT0S: nothing would be kept alive",
                "semaphore.lock-wait-timeout=100ms | semaphore.lock-wait-timeout must be at least PT1S, but is PT0.1S: databases that count whole seconds",
                "semaphore.decision-timeout=0s | semaphore.decision-timeout must be at least PT1S, but is PT0S: callers would give up",
                "semaphore.session-idle-limit=4s | semaphore.session-idle-limit must be at least PT5S, but is PT4S: the server would end transactions",
                "semaphore.max-attempts=0 | semaphore.max-attempts must be at least 1, but is 0: ",
                "semaphore.max-names-per-request=0 | semaphore.max-names-per-request must be at least 1, but is 0: ",
                "semaphore.max-batch-size=0 | semaphore.max-batch-size must be at least 1, but is 0: ",
                "semaphore.max-connections=0 | semaphore.max-connections must be at least 1, but is 0: the database",
                "semaphore.max-pattern-semaphores=0 | semaphore.max-pattern-semaphores must be at least 1, but is 0: the patterns",
                "semaphore.patterns.[*].capacity=1 | semaphore.patterns[*] would match every name",
                "semaphore.maintenance.batch-size=0 | semaphore.maintenance.batch-size must be at least 1, but is 0: nothing"
            })
    void refuseWhatCannotWork(String property, String message) {
        String[] keyAndValue = property.split("=", 2);
        runner.withInitializer(properties(Map.of(keyAndValue[0], keyAndValue[1])))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOfAny(IllegalArgumentException.class, SemaphoreConfigurationException.class)
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
        assertThat(described("description"))
                .containsOnlyKeys(
                        "management.endpoint.semaphores.access",
                        "management.endpoint.semaphores.cache.time-to-live",
                        "semaphore.endpoint.force-release-enabled",
                        "semaphore.endpoint.page-enabled",
                        "semaphore.fair",
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
                .allSatisfy(
                        (name, description) -> assertThat((String) description).isNotBlank());
    }

    /** As they are; {@code withPropertyValues} takes a colon for the end of the key. */
    private static ApplicationContextInitializer<ConfigurableApplicationContext> properties(
            Map<String, String> properties) {
        return context -> TestPropertyValues.of(properties).applyTo(context);
    }

    /** What the metadata say of each property of the library under this key, null where nothing. */
    @SuppressWarnings("unchecked")
    private static Map<String, Object> described(String key) throws IOException {
        URL classes =
                SemaphoreProperties.class.getProtectionDomain().getCodeSource().getLocation();
        String metadata = new UrlResource(classes)
                .createRelative("META-INF/spring-configuration-metadata.json")
                .getContentAsString(StandardCharsets.UTF_8);
        List<Object> properties = (List<Object>)
                JsonParserFactory.getJsonParser().parseMap(metadata).get("properties");
        Map<String, Object> described = new TreeMap<>();
        properties.stream()
                .map(property -> (Map<String, Object>) property)
                .forEach(property -> described.put((String) property.get("name"), property.get(key)));
        return described;
    }

    /** All settings that have a property of their own. */
    private static Stream<Setting<?>> settings() {
        return Stream.of(SemaphoreSettings.class, MaintenanceSettings.class)
                .flatMap(holder -> Stream.of(holder.getFields()))
                .filter(field -> field.getType() == Setting.class)
                .<Setting<?>>map(field -> (Setting<?>) ReflectionUtils.getField(field, null))
                .filter(setting -> setting != SemaphoreSettings.REUSE);
    }

    private static SemaphoreSettings onlyOwner() {
        return SemaphoreSettings.defaults().with(SemaphoreSettings.OWNER, "this instance");
    }

    @EnableConfigurationProperties(SemaphoreProperties.class)
    static class PropertiesConfiguration {

        @Bean
        SemaphoreSettings settings(SemaphoreProperties properties) {
            return SemaphoreConfigurationException.explaining(() -> properties.toSettings("this instance"));
        }

        @Bean
        SemaphorePatterns patterns(SemaphoreProperties properties) {
            return SemaphoreConfigurationException.explaining(properties::toPatterns);
        }
    }
}
