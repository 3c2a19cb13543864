package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.tuple;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.admin.CapacityChange;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.Map;
import java.util.TreeMap;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.env.YamlPropertySourceLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContextInitializer;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.ConfigurableEnvironment;
import org.springframework.core.env.SystemEnvironmentPropertySource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

@ExtendWith(OutputCaptureExtension.class)
class DeclaredSemaphoresTests {

    /** A database that outlives the application. */
    private final ApplicationContextRunner host = Hosts.jdbc()
            .withPropertyValues("spring.datasource.url=jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1".formatted(UUID.randomUUID()));

    @Test
    void areCreatedAtStart() {
        host.withInitializer(context -> TestPropertyValues.of(Map.of(
                                "semaphore.semaphores.backup.capacity", "3",
                                "semaphore.semaphores.[tenant:a].capacity", "0"))
                        .applyTo(context))
                .run(context -> {
                    SemaphoreAdmin admin = context.getBean(SemaphoreAdmin.class);
                    assertThat(capacity(admin, "backup")).isEqualTo(3);
                    assertThat(capacity(admin, "tenant:a")).isZero();
                });
    }

    @Test
    void areCreatedByAnEngineOfTheApplicationToo() {
        host.withUserConfiguration(OwnEngine.class)
                .withPropertyValues("semaphore.semaphores.backup.capacity=3")
                .run(context -> assertThat(capacity(context.getBean(SemaphoreAdmin.class), "backup"))
                        .isEqualTo(3));
    }

    @Test
    void areRefusedWithoutACapacityBesideAnEngineOfTheApplicationToo() {
        host.withUserConfiguration(OwnEngine.class)
                .withPropertyValues("semaphore.semaphores.backup.capcity=3")
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(SemaphoreConfigurationException.class)
                        .hasMessageStartingWith("semaphore.semaphores.backup.capacity is missing"));
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnEngine {

        @Bean
        SemaphoreEngine ownEngine(DataSource dataSource) {
            new ResourceDatabasePopulator(new ClassPathResource("db/dbsemaphore/sql/h2.sql")).execute(dataSource);
            return new SemaphoreEngine(dataSource, SemaphoreSettings.defaults());
        }
    }

    @Test
    void areThereForBeansThatUseThemWhileTheApplicationStarts() {
        host.withUserConfiguration(EarlyBird.class)
                .withPropertyValues("semaphore.semaphores.backup.capacity=1")
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void keepACapacityThatWasChangedAtRunTime(CapturedOutput output) {
        host.withPropertyValues("semaphore.semaphores.backup.capacity=3")
                .run(context -> context.getBean(SemaphoreAdmin.class).setCapacity("backup", 5, "ops", "a second disk"));

        host.withPropertyValues("semaphore.semaphores.backup.capacity=3")
                .run(context -> assertThat(capacity(context.getBean(SemaphoreAdmin.class), "backup"))
                        .isEqualTo(5));

        assertThat(output.getOut().lines().filter(line -> line.contains("keeps its capacity")))
                .singleElement()
                .asString()
                .contains("WARN", "'backup'", "capacity 5", "the configured 3", "semaphore.capacity-at-start=apply");
    }

    @Test
    void applyTheConfiguredCapacityWhereThatIsConfigured(CapturedOutput output) {
        host.withPropertyValues("semaphore.semaphores.backup.capacity=3")
                .run(context -> context.getBean(SemaphoreAdmin.class).setCapacity("backup", 5, "ops", "a second disk"));

        host.withPropertyValues(
                        "semaphore.semaphores.backup.capacity=3",
                        "semaphore.capacity-at-start=apply",
                        "semaphore.owner=backup-service@host:1")
                .run(context -> {
                    SemaphoreAdmin admin = context.getBean(SemaphoreAdmin.class);
                    assertThat(capacity(admin, "backup")).isEqualTo(3);
                    assertThat(admin.capacityHistory("backup"))
                            .extracting(CapacityChange::from, CapacityChange::to, CapacityChange::changedBy)
                            .containsExactly(tuple(5, 3, "configuration"), tuple(3, 5, "ops"));
                    assertThat(admin.capacityHistory("backup").get(0).reason())
                            .contains("semaphore.semaphores.backup.capacity", "backup-service@host:1");
                });

        assertThat(output).doesNotContain("keeps its capacity").contains("capacity 3 instead of 5");
    }

    @Test
    void keepTheCapacitiesOfWhatAPatternHasCreatedWithOneWarning(CapturedOutput output) {
        createTenants();

        host.withInitializer(with("semaphore.patterns.[tenant:*].capacity", "5"))
                .run(context -> {
                    SemaphoreAdmin admin = context.getBean(SemaphoreAdmin.class);
                    assertThat(capacity(admin, "tenant:1")).isEqualTo(2);
                    context.getBean(SemaphoreOperations.class)
                            .acquire(AcquireRequest.of("tenant:3"))
                            .release();
                    assertThat(capacity(admin, "tenant:3")).isEqualTo(5);
                });

        assertThat(output.getOut().lines().filter(line -> line.contains("keep their capacity")))
                .singleElement()
                .asString()
                .contains("WARN", "2 semaphore(s)", "'tenant:*'", "configured 5", "{tenant:1=2, tenant:2=2}")
                .contains("setCapacityOfPattern", "semaphore.capacity-at-start=apply");
    }

    @Test
    void applyTheConfiguredCapacityToWhatAPatternHasCreated(CapturedOutput output) {
        createTenants();

        host.withInitializer(with("semaphore.patterns.[tenant:*].capacity", "5"))
                .withPropertyValues("semaphore.capacity-at-start=apply", "semaphore.owner=backup-service@host:1")
                .run(context -> {
                    SemaphoreAdmin admin = context.getBean(SemaphoreAdmin.class);
                    assertThat(capacity(admin, "tenant:1")).isEqualTo(5);
                    assertThat(capacity(admin, "tenant:2")).isEqualTo(5);
                    assertThat(capacity(admin, "tenant:hand")).isEqualTo(9);
                    assertThat(admin.capacityHistory("tenant:1"))
                            .extracting(CapacityChange::from, CapacityChange::to, CapacityChange::changedBy)
                            .containsExactly(tuple(2, 5, "configuration"));
                    assertThat(admin.capacityHistory("tenant:1").get(0).reason())
                            .contains("semaphore.patterns.[tenant:*].capacity", "backup-service@host:1");
                });
        assertThat(output).contains("2 semaphore(s) of the pattern 'tenant:*' have capacity 5");

        // the longer pattern counts for what the other one has created, and what is declared counts for its name
        host.withInitializer(with(
                        "semaphore.patterns.[tenant:*].capacity", "3",
                        "semaphore.patterns.[tenant:1*].capacity", "7",
                        "semaphore.semaphores.[tenant:2].capacity", "5"))
                .withPropertyValues("semaphore.capacity-at-start=apply")
                .run(context -> {
                    SemaphoreAdmin admin = context.getBean(SemaphoreAdmin.class);
                    assertThat(capacity(admin, "tenant:1")).isEqualTo(7);
                    assertThat(capacity(admin, "tenant:2")).isEqualTo(5);
                    assertThat(admin.capacityHistory("tenant:2"))
                            .extracting(CapacityChange::from, CapacityChange::to)
                            .containsExactly(tuple(2, 5)); // that of the pattern was never applied
                });
        assertThat(output).doesNotContain("keep their capacity");
    }

    /** Its patterns are those of its own settings. */
    @Test
    void applyNoPatternToAnEngineOfTheApplication() {
        host.withUserConfiguration(OwnEngine.class)
                .withInitializer(with("semaphore.patterns.[tenant:*].capacity", "5"))
                .withPropertyValues("semaphore.capacity-at-start=apply")
                .run(context -> assertThat(context).hasNotFailed());
    }

    private void createTenants() {
        host.withInitializer(with("semaphore.patterns.[tenant:*].capacity", "2"))
                .run(context -> {
                    for (String name : new String[] {"tenant:1", "tenant:2", "tenant:hand"}) {
                        context.getBean(SemaphoreOperations.class)
                                .acquire(AcquireRequest.of(name))
                                .release();
                    }
                    context.getBean(SemaphoreAdmin.class).setCapacity("tenant:hand", 9, "ops", "a larger plan");
                });
    }

    private static ApplicationContextInitializer<ConfigurableApplicationContext> with(String... namesAndValues) {
        Map<String, String> properties = new TreeMap<>();
        for (int i = 0; i < namesAndValues.length; i += 2) {
            properties.put(namesAndValues[i], namesAndValues[i + 1]);
        }
        return context -> TestPropertyValues.of(properties).applyTo(context);
    }

    /** Spring Boot drops such characters from a key, and "tenant:a" would silently become "tenanta". */
    @ParameterizedTest
    @CsvSource({
        "semaphore.semaphores.tenant:a.capacity, semaphore.semaphores.[tenant:a].capacity",
        "semaphore.semaphores.my_backup.capacity, semaphore.semaphores.[my_backup].capacity",
        "semaphore.patterns.tenant:*.capacity, semaphore.patterns.[tenant:*].capacity",
        "semaphore.patterns.tenant*.capacity, semaphore.patterns.[tenant*].capacity"
    })
    void areRefusedWhereTheirKeyNeedsBrackets(String property, String correct) {
        host.withInitializer(
                        context -> TestPropertyValues.of(Map.of(property, "3")).applyTo(context))
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("brackets")
                        .hasStackTraceContaining(correct));
    }

    @ParameterizedTest
    @CsvSource({
        "semaphore.semaphores.backup.weights.acme/batch, semaphore.semaphores.backup.weights.[acme/batch]",
        "semaphore.semaphores[tenant:a].weights.my_team, semaphore.semaphores[tenant:a].weights.[my_team]",
        "semaphore.patterns.[tenant:*].weights.a/b.c, semaphore.patterns.[tenant:*].weights.[a/b.c]",
        "semaphore.semaphores.my_backup.weights.[a/b], semaphore.semaphores.[my_backup].capacity"
    })
    void areRefusedWhereTheShareOfAWeightNeedsBrackets(String property, String correct) {
        host.withInitializer(
                        context -> TestPropertyValues.of(Map.of(property, "3")).applyTo(context))
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("brackets")
                        .hasStackTraceContaining(correct));
    }

    @Test
    void areRefusedWhereAShareInBracketsHasNoQuotes() {
        String yaml = "semaphore: {semaphores: {backup: {capacity: 2, weights: {[acme/a.b]: 2, acme: 3}}}}";
        host.withInitializer(context -> addYaml(context.getEnvironment(), yaml))
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(SemaphoreConfigurationException.class)
                        .hasMessageContaining(
                                "The share [acme/a.b] of semaphore.semaphores.backup.weights is not in quotes")
                        .hasMessageContaining("Write \"[acme/a.b]\" in YAML, with the quotes"));
        host.withInitializer(context -> addYaml(context.getEnvironment(), yaml.replace("[acme/a.b]", "\"[acme/a.b]\"")))
                .run(context -> assertThat(context).hasNotFailed());
    }

    /** YAML takes such a key for a list, and Spring Boot would make a name with brackets of it. */
    @ParameterizedTest
    @ValueSource(strings = {"semaphores", "patterns"})
    void areRefusedWhereAKeyInBracketsHasNoQuotes(String root) {
        String yaml = "semaphore: {%s: {[tenant:*]: {capacity: 2}}}".formatted(root);
        host.withInitializer(context -> addYaml(context.getEnvironment(), yaml))
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(SemaphoreConfigurationException.class)
                        .hasMessageContaining("The key [tenant:*] of semaphore." + root + " is not in quotes")
                        .hasMessageContaining("Write \"[tenant:*]\" in YAML, with the quotes"));
        host.withInitializer(context -> addYaml(context.getEnvironment(), yaml.replace("[tenant:*]", "\"[tenant:*]\"")))
                .run(context -> assertThat(context).hasNotFailed());
    }

    private static void addYaml(ConfigurableEnvironment environment, String yaml) {
        try {
            new YamlPropertySourceLoader()
                    .load("test", new ByteArrayResource(yaml.getBytes(StandardCharsets.UTF_8)))
                    .forEach(environment.getPropertySources()::addFirst);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Test
    void areNotSpokenOfWhereNothingDiffers(CapturedOutput output) {
        host.withPropertyValues("semaphore.semaphores.backup.capacity=3").run(context -> {});
        host.withPropertyValues("semaphore.semaphores.backup.capacity=3").run(context -> {});

        assertThat(output).doesNotContain("keeps its capacity").containsOnlyOnce("Created semaphore 'backup'");
    }

    @Test
    void stayWhenTheyAreDeclaredNoMore() {
        host.withPropertyValues("semaphore.semaphores.backup.capacity=3").run(context -> {});

        host.run(context ->
                assertThat(context.getBean(SemaphoreAdmin.class).find("backup")).isPresent());
    }

    @ParameterizedTest
    @CsvSource({
        "semaphore.semaphores.backup.capcity, 3, semaphore.semaphores.backup.capacity",
        "semaphore.semaphores.backup.wait-time, 30s, semaphore.semaphores.backup.capacity",
        "semaphore.semaphores.eu.west.capacity, 3, semaphore.semaphores.eu.capacity",
        "semaphore.patterns.[tenant:*].fair, false, semaphore.patterns.[tenant:*].capacity"
    })
    void areRefusedWithoutACapacity(String property, String value, String missing) {
        host.withInitializer(context ->
                        TestPropertyValues.of(Map.of(property, value)).applyTo(context))
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(SemaphoreConfigurationException.class)
                        .hasMessageStartingWith(missing + " is missing"));
    }

    @Test
    void areRefusedWhereTheBeginningOfTheirNameIsDeclaredToo() {
        host.withPropertyValues("semaphore.semaphores.eu.capacity=1", "semaphore.semaphores.eu.west.capacity=3")
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(SemaphoreConfigurationException.class)
                        .hasMessageContaining("semaphore.semaphores.eu.west is not a setting"));
    }

    @Test
    void haveSettingsFromVariablesOfTheEnvironment() {
        host.withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new SystemEnvironmentPropertySource(
                                "test-systemEnvironment",
                                Map.of(
                                        "SEMAPHORE_SEMAPHORES_BACKUP_CAPACITY", "3",
                                        "SEMAPHORE_SEMAPHORES_BACKUP_WAIT_TIME", "7s"))))
                .run(context -> assertThat(context.getBean(SemaphoreSettings.class)
                                .get(SemaphoreSettings.WAIT_TIME)
                                .of("backup"))
                        .hasSeconds(7));
    }

    private static int capacity(SemaphoreAdmin admin, String name) {
        return admin.find(name).orElseThrow().capacity();
    }

    static class EarlyBird {

        EarlyBird(SemaphoreOperations semaphores) {
            semaphores.executeWithoutResult(AcquireRequest.of("backup"), grant -> {});
        }
    }
}
