package io.dbsemaphore.samples.backup.monitoring;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.contentOf;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.samples.backup.BackupApplication;
import io.dbsemaphore.samples.backup.Executables;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Collection;
import java.util.List;
import java.util.UUID;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.Assumptions;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import tools.jackson.databind.JsonNode;

/** A real Prometheus that scrapes the sample at work fills the dashboard and evaluates the alert rules. */
@Tag("slow")
class MonitoringIntegrationTests {

    private static final Duration SOON = Duration.ofMinutes(2);

    @TempDir
    static Path directory;

    private static ConfigurableApplicationContext sample;
    private static Prometheus prometheus;
    private static Path promtool;

    @BeforeAll
    static void start() throws IOException {
        Path executable = Executables.find("prometheus");
        promtool = Executables.find("promtool");
        if (executable == null || promtool == null) {
            return;
        }
        sample = new SpringApplicationBuilder(BackupApplication.class)
                .profiles("live")
                .run(
                        "--server.port=0",
                        "--spring.datasource.url=jdbc:h2:mem:" + UUID.randomUUID(),
                        "--semaphore.metrics.refresh-interval=1s",
                        "--semaphore.semaphores.thumbnails.weights.acme=2",
                        // so many calls that one waits, is granted and ends in every few seconds
                        "--live.pause=20ms",
                        "--live.calls.thumbnails.shortest=20ms",
                        "--live.calls.thumbnails.longest=200ms");
        prometheus = new Prometheus(
                executable,
                directory,
                Expressions.document("prometheus-alerts.yaml"),
                sample.getEnvironment().getRequiredProperty("local.server.port"));
        prometheus.awaitStart();
    }

    @BeforeEach
    void skipWithoutPrometheus() {
        Assumptions.assumeTrue(prometheus != null, "No Prometheus on this machine. Install the package prometheus");
    }

    @AfterAll
    static void stop() {
        if (prometheus != null) {
            prometheus.close();
        }
        if (sample != null) {
            sample.close();
        }
    }

    @Test
    void eachExpressionOfTheDashboardHasAValue() throws IOException {
        List<String> expressions = Expressions.ofDashboard();

        assertThat(expressions).hasSizeGreaterThan(15).noneMatch(expression -> expression.contains("$"));
        assertEachHasAValue(expressions);
    }

    @Test
    void eachAlertRuleIsEvaluatedAndAsksForWhatIsThere() {
        await().atMost(SOON)
                .untilAsserted(() -> assertThat(prometheus.rules())
                        .isNotEmpty()
                        .allSatisfy(rule -> assertThat(rule.at("/health").asString())
                                .as(rule::toString)
                                .isEqualTo("ok")));
        List<String> selectors = prometheus.rules().findValuesAsString("query").stream()
                .flatMap(Expressions::selectors)
                .distinct()
                .toList();

        assertThat(selectors).hasSizeGreaterThan(5);
        assertEachHasAValue(selectors);
    }

    @Test
    void eachAlertRuleFiresWhenItShouldAndOnlyThen() throws Exception {
        Path tests = Expressions.document("prometheus-alerts-test.yaml");
        Path output = directory.resolve("promtool.log");
        Process process = new ProcessBuilder(promtool.toString(), "test", "rules", tests.toString())
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();

        assertThat(process.waitFor()).as(() -> contentOf(output.toFile())).isZero();
        String tested = Files.readString(tests);
        assertThat(prometheus.rules().findValuesAsString("name"))
                .isNotEmpty()
                .allSatisfy(alert -> assertThat(tested).contains("labels: ALERTS{alertname=\"" + alert + "\""));
    }

    /** Within some seconds; not all of them at the same time. An expression that cannot be parsed fails at once. */
    private static void assertEachHasAValue(Collection<String> expressions) {
        List<String> empty = new ArrayList<>(expressions);
        await().atMost(SOON).untilAsserted(() -> {
            empty.removeIf(MonitoringIntegrationTests::hasAValue);
            assertThat(empty).as("expressions without a value").isEmpty();
        });
    }

    /** A number, with the labels by which the expression groups. */
    private static boolean hasAValue(String expression) {
        for (JsonNode series : prometheus.query(expression)) {
            if (!series.at("/value/1").asString().equals("NaN")
                    && series.at("/metric").propertyNames().containsAll(Expressions.labels(expression))) {
                return true;
            }
        }
        return false;
    }
}
