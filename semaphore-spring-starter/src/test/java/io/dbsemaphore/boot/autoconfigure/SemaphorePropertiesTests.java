package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.boot.autoconfigure.SemaphoreProperties.Declared;
import io.dbsemaphore.config.HostTransaction;
import io.dbsemaphore.config.OnFull;
import io.dbsemaphore.config.PerSemaphore;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.config.Setting;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.core.env.PropertySource;
import org.springframework.core.io.ByteArrayResource;

/** The settings that properties become. */
class SemaphorePropertiesTests extends SemaphorePropertiesFixture {

    @Test
    void leaveTheDefaultsToTheEngine() {
        with(Map.of()).run(context -> {
            SemaphoreProperties properties = context.getBean(SemaphoreProperties.class);

            assertThat(Stream.concat(
                            settings(),
                            Stream.of(
                                    SemaphoreSettings.REUSE,
                                    SemaphoreSettings.MAX_WAITING,
                                    SemaphoreSettings.MAX_WAITING_PER_SHARE,
                                    SemaphoreSettings.ON_FULL,
                                    SemaphoreSettings.WEIGHTS)))
                    .allSatisfy(setting -> assertThat(
                                    context.getBean(SemaphoreSettings.class).get(setting))
                            .as(setting.property())
                            .isEqualTo(onlyOwner().get(setting)));
            assertThat(properties.enabled()).isTrue();
            assertThat(properties.datasource()).isNull();
            assertThat(properties.semaphores()).isEmpty();
            assertThat(properties.aop().order()).isEqualTo(1000);
            assertThat(properties.liquibase().enabled()).isFalse();
        });
    }

    @Test
    void reachTheSettingsOfTheEngine() {
        Map<String, Object> all = new TreeMap<>(Map.ofEntries(
                Map.entry("semaphore.owner", "billing"),
                Map.entry("semaphore.jdbc.table-prefix", "app_"),
                Map.entry("semaphore.jdbc.max-attempts", 7),
                Map.entry("semaphore.max-names-per-request", 9),
                Map.entry("semaphore.max-pattern-semaphores", 10),
                Map.entry("semaphore.jdbc.max-batch-size", 11),
                Map.entry("semaphore.jdbc.max-connections", 2),
                Map.entry("semaphore.jdbc.pipelining", false),
                Map.entry("semaphore.jdbc.notifications", true),
                Map.entry("semaphore.defaults.fair", false),
                Map.entry("semaphore.host-transaction", HostTransaction.REFUSE),
                Map.entry("semaphore.maintenance.enabled", false),
                Map.entry("semaphore.maintenance.batch-size", 12)));
        // the others are durations; each is another one, in an order that fits
        long[] seconds = {3600};
        settings()
                .map(Setting::property)
                .sorted()
                .forEach(property -> all.computeIfAbsent(property, added -> Duration.ofSeconds(++seconds[0])));

        with(all)
                .run(context -> assertThat(settings())
                        .allSatisfy(setting -> assertThat(
                                        context.getBean(SemaphoreSettings.class).get(setting))
                                .as(setting.property())
                                .isEqualTo(
                                        onlyOwner().get(setting) instanceof PerSemaphore
                                                ? PerSemaphore.all(all.get(setting.property()))
                                                : all.get(setting.property()))));
    }

    @Test
    void tellWhichSemaphoresAreFair() {
        with(Map.of(
                        "semaphore.defaults.fair", "false",
                        "semaphore.semaphores.backup.capacity", "1",
                        "semaphore.semaphores.backup.fair", "true",
                        "semaphore.patterns.[tenant:*].capacity", "1",
                        "semaphore.patterns.[tenant:*].fair", "true"))
                .run(context -> {
                    PerSemaphore<Boolean> fair =
                            context.getBean(SemaphoreSettings.class).get(SemaphoreSettings.FAIR);
                    assertThat(List.of("backup", "tenant:a", "other"))
                            .extracting(fair::of)
                            .containsExactly(true, true, false);
                });
    }

    @Test
    void collectTheReuseTimesOfNamesAndPatterns() {
        with(Map.of(
                        "semaphore.semaphores.partner.capacity", "3",
                        "semaphore.semaphores.partner.reuse", "250ms",
                        "semaphore.semaphores.backup.capacity", "3",
                        "semaphore.patterns.[tenant:*].capacity", "3",
                        "semaphore.patterns.[tenant:*].reuse", "1s"))
                .run(context -> {
                    PerSemaphore<Duration> reuse =
                            context.getBean(SemaphoreSettings.class).get(SemaphoreSettings.REUSE);
                    assertThat(List.of("partner", "tenant:a", "backup"))
                            .extracting(reuse::of)
                            .containsExactly(Duration.ofMillis(250), Duration.ofSeconds(1), Duration.ZERO);
                });
    }

    @Test
    void collectHowManyMayWait() {
        with(Map.of(
                        "semaphore.semaphores.partner.capacity", "3",
                        "semaphore.semaphores.partner.max-waiting", "0",
                        "semaphore.semaphores.backup.capacity", "3",
                        "semaphore.patterns.[tenant:*].capacity", "3",
                        "semaphore.patterns.[tenant:*].max-waiting", "20",
                        "semaphore.patterns.[tenant:*].on-full", "keep-newest"))
                .run(context -> {
                    PerSemaphore<OnFull> onFull =
                            context.getBean(SemaphoreSettings.class).get(SemaphoreSettings.ON_FULL);
                    assertThat(List.of("partner", "tenant:a"))
                            .extracting(onFull::of)
                            .containsExactly(OnFull.KEEP_OLDEST, OnFull.KEEP_NEWEST);
                    PerSemaphore<Integer> maxWaiting =
                            context.getBean(SemaphoreSettings.class).get(SemaphoreSettings.MAX_WAITING);
                    assertThat(List.of("partner", "tenant:a", "backup"))
                            .extracting(maxWaiting::of)
                            .containsExactly(0, 20, Integer.MAX_VALUE);
                });
    }

    @Test
    void collectHowManyMayWaitWithTheSameShare() {
        with(Map.of(
                        "semaphore.semaphores.partner.capacity", "3",
                        "semaphore.semaphores.partner.max-waiting-per-share", "0",
                        "semaphore.semaphores.backup.capacity", "3",
                        "semaphore.patterns.[tenant:*].capacity", "3",
                        "semaphore.patterns.[tenant:*].max-waiting-per-share", "20",
                        "semaphore.patterns.[tenant:*].on-full", "keep-newest"))
                .run(context -> {
                    SemaphoreSettings settings = context.getBean(SemaphoreSettings.class);
                    assertThat(List.of("partner", "tenant:a", "backup"))
                            .extracting(settings.get(SemaphoreSettings.MAX_WAITING_PER_SHARE)::of)
                            .containsExactly(0, 20, Integer.MAX_VALUE);
                    assertThat(settings.get(SemaphoreSettings.ON_FULL).of("tenant:a"))
                            .isEqualTo(OnFull.KEEP_NEWEST);
                });
    }

    @Test
    void collectTheWeightsOfNamesAndPatterns() throws IOException {
        String yaml = """
                semaphore:
                  semaphores:
                    backup: {capacity: 3, weights: {acme: 2, "[acme/batch.1]": 1000, capacity: 7}}
                    network: {capacity: 3}
                  patterns:
                    "[tenant:*]": {capacity: 3, weights: {"[gold/a]": 5}}
                """;

        withYaml(yaml).run(context -> {
            PerSemaphore<Map<String, Integer>> weights =
                    context.getBean(SemaphoreSettings.class).get(SemaphoreSettings.WEIGHTS);
            assertThat(List.of("backup", "tenant:a", "network"))
                    .extracting(weights::of)
                    .containsExactly(
                            Map.of("acme", 2, "acme/batch.1", 1000, "capacity", 7), Map.of("gold/a", 5), Map.of());
        });
        with(Map.of(
                        "semaphore.semaphores.backup.capacity", "3",
                        "semaphore.semaphores.backup.weights.Acme-1", "2",
                        "semaphore.semaphores.backup.weights.[acme/batch]", "3"))
                .run(context -> assertThat(context.getBean(SemaphoreSettings.class)
                                .get(SemaphoreSettings.WEIGHTS)
                                .of("backup"))
                        .isEqualTo(Map.of("Acme-1", 2, "acme/batch", 3)));
    }

    @Test
    void collectTheWaitTimesAndMaximumHoldsOfNamesAndPatterns() {
        with(Map.of(
                        "semaphore.defaults.max-hold", "2h",
                        "semaphore.defaults.wait-time", "3s",
                        "semaphore.semaphores.partner.capacity", "3",
                        "semaphore.semaphores.partner.wait-time", "10s",
                        "semaphore.semaphores.partner.max-hold", "5m",
                        "semaphore.semaphores.backup.capacity", "3",
                        "semaphore.patterns.[tenant:*].capacity", "3",
                        "semaphore.patterns.[tenant:*].wait-time", "1s",
                        "semaphore.patterns.[tenant:*].max-hold", "6m"))
                .run(context -> {
                    SemaphoreSettings settings = context.getBean(SemaphoreSettings.class);
                    List<String> names = List.of("partner", "tenant:a", "backup");
                    assertThat(names)
                            .extracting(settings.get(SemaphoreSettings.WAIT_TIME)::of)
                            .containsExactly(Duration.ofSeconds(10), Duration.ofSeconds(1), Duration.ofSeconds(3));
                    assertThat(names)
                            .extracting(settings.get(SemaphoreSettings.MAX_HOLD)::of)
                            .containsExactly(Duration.ofMinutes(5), Duration.ofMinutes(6), Duration.ofHours(2));
                });
    }

    @Test
    void keepNamesInBracketsAsTheyAre() {
        with(Map.of(
                        "semaphore.semaphores.[tenant:a].capacity", "3",
                        "semaphore.semaphores.[eu.west/Nightly_Run 1].capacity", "0",
                        "semaphore.semaphores.Backup.capacity", "1"))
                .run(context -> assertThat(
                                context.getBean(SemaphoreProperties.class).semaphores())
                        .containsOnly(
                                Map.entry("tenant:a", new Declared(3, null, null, null, null, null, null, null, null)),
                                Map.entry(
                                        "eu.west/Nightly_Run 1",
                                        new Declared(0, null, null, null, null, null, null, null, null)),
                                Map.entry("Backup", new Declared(1, null, null, null, null, null, null, null, null))));
    }

    @Test
    void keepNamesInBracketsOfYamlAsTheyAre() throws IOException {
        withYaml("semaphore: {semaphores: {\"[tenant:a]\": {capacity: 3}}}")
                .run(context -> assertThat(
                                context.getBean(SemaphoreProperties.class).semaphores())
                        .containsOnlyKeys("tenant:a"));
    }

    private static ApplicationContextRunner withYaml(String yaml) throws IOException {
        List<PropertySource<?>> sources = new YamlPropertySourceLoader()
                .load("yaml", new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)));
        return with(Map.of())
                .withInitializer(
                        context -> sources.forEach(context.getEnvironment().getPropertySources()::addLast));
    }
}
