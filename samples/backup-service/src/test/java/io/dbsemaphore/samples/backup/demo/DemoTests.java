package io.dbsemaphore.samples.backup.demo;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.samples.backup.BackupApplication;
import java.time.Duration;
import java.util.LinkedHashMap;
import java.util.Map;
import java.util.UUID;
import java.util.concurrent.CompletableFuture;
import java.util.function.ToIntFunction;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.web.client.RestClient;

@ExtendWith(OutputCaptureExtension.class)
class DemoTests {

    @Test
    void seesThatTheLimitsHold(CapturedOutput output) {
        assertThat(with(DemoTests::runDemo)).isZero();
        assertThat(output)
                .contains("Jobs     11 of 1 instance(s): 11 done")
                .contains("Peak     3 of 3 backups")
                .contains("Verdict  the limits held")
                .containsPattern("Next .*-Dspring-boot.run.profiles=live.*\\R.*/actuator/semaphores");
    }

    @Test
    void goesOnForAsLongAsItIsTold(CapturedOutput output) {
        ToIntFunction<ApplicationContext> runFor = context -> {
            long start = System.nanoTime();
            int exitCode = runDemo(context);
            assertThat(Duration.ofNanos(System.nanoTime() - start)).isGreaterThan(Duration.ofSeconds(6));
            return exitCode;
        };
        assertThat(with(runFor, "demo.duration=6s")).isZero();
        assertThat(output)
                .containsPattern("backup-9 +started")
                .containsPattern("replication-4 +started")
                .containsPattern("Jobs     (\\d+) of 1 instance\\(s\\): \\1 done, 0 refused")
                .contains("Verdict  the limits held");
    }

    /** The first job lasts until the last one has started. */
    @Test
    void seesThatTheLimitsAreBroken(CapturedOutput output) {
        assertThat(with(DemoTests::runDemo, "demo.break-limit=true", "transfer.block=500ms", "transfer.min-blocks=8"))
                .isEqualTo(1);
        assertThat(output).contains("Peak     8 of 3 backups").contains("Verdict  THE LIMITS WERE BROKEN");
    }

    @Test
    void doesNotClaimThatTheLimitsHeldWhenNothingRan(CapturedOutput output) {
        ToIntFunction<ApplicationContext> runWhileNetworkIsTaken = context -> {
            AcquireRequest all = AcquireRequest.of("network").exclusive();
            try (PermitGrant network = context.getBean(SemaphoreTemplate.class).acquire(all)) {
                return runDemo(context);
            }
        };
        assertThat(with(runWhileNetworkIsTaken, "demo.time-limit=2s", "backup.wait-time=100ms"))
                .isEqualTo(2);
        assertThat(output).contains("11 of 1 instance(s): 0 done");
    }

    /** As a signal does, and before the jobs that are under way have ended. */
    @Test
    void endsAsSoonAsTheContextIsClosed(CapturedOutput output) {
        ToIntFunction<ApplicationContext> runAndClose = context -> {
            CompletableFuture<Integer> demo = CompletableFuture.supplyAsync(() -> runDemo(context));
            await().atMost(Duration.ofSeconds(30))
                    .until(() -> output.toString().lines().anyMatch(line -> line.matches(".* backup-\\d +started .*")));
            CompletableFuture<Void> close =
                    CompletableFuture.runAsync(((ConfigurableApplicationContext) context)::close);

            int exitCode = demo.join();
            assertThat(close).as("the end of the jobs").isNotDone();
            close.join();
            return exitCode;
        };
        assertThat(with(
                        runAndClose,
                        "demo.duration=1m",
                        "transfer.block=3s",
                        "transfer.max-blocks=4", // those that begin during the shutdown end in time, too
                        "spring.task.execution.shutdown.await-termination-period=10s"))
                .isEqualTo(2);
        assertThat(output).contains("11 of 1 instance(s): 0 done").doesNotContain("Exception", "\tat ");
    }

    @Test
    void showsItsMetricsToPrometheus() {
        ToIntFunction<ApplicationContext> runAndScrape = context -> {
            assertThat(runDemo(context)).isZero();
            await().atMost(Duration.ofSeconds(30))
                    .untilAsserted(() -> assertThat(scrape(context))
                            .contains("semaphore_acquire_seconds_count{outcome=\"granted\",semaphore=\"backup\"} 8")
                            .contains("semaphore_acquire_seconds_count{outcome=\"granted\",semaphore=\"network\"} 11")
                            .contains("semaphore_hold_seconds_count{semaphore=\"backup\"} 8")
                            .contains("semaphore_wait_seconds_count{outcome=\"granted\",semaphore=\"backup\"}")
                            .contains("semaphore_permits_capacity{semaphore=\"network\"} 5.0")
                            .contains("semaphore_permits_held{semaphore=\"backup\"} 0.0")
                            .contains("semaphore_batch_size_count"));
            return 0;
        };
        assertThat(with(WebApplicationType.SERVLET, runAndScrape)).isZero();
    }

    private static String scrape(ApplicationContext context) {
        String port = context.getEnvironment().getRequiredProperty("local.server.port");
        return String.valueOf(RestClient.create()
                .get()
                .uri("http://localhost:" + port + "/actuator/prometheus")
                .retrieve()
                .body(String.class));
    }

    private static int runDemo(ApplicationContext context) {
        return context.getBean(Demo.class).run();
    }

    private static int with(ToIntFunction<ApplicationContext> action, String... properties) {
        return with(WebApplicationType.NONE, action, properties);
    }

    private static int with(WebApplicationType type, ToIntFunction<ApplicationContext> action, String... properties) {
        Map<String, String> values = new LinkedHashMap<>();
        Stream.concat(
                        Stream.of(
                                "spring.datasource.url=jdbc:h2:mem:demo-" + UUID.randomUUID(),
                                "transfer.block=50ms",
                                "transfer.min-blocks=4",
                                "transfer.max-blocks=8"),
                        Stream.of(properties))
                .forEach(property -> values.put(property.substring(0, property.indexOf('=')), property));
        String[] arguments = values.values().stream().map("--"::concat).toArray(String[]::new);
        SpringApplicationBuilder application =
                new SpringApplicationBuilder(BackupApplication.class).web(type).profiles("demo");
        application.properties("demo.duration=0s");
        try (ConfigurableApplicationContext context = application.run(arguments)) {
            return action.applyAsInt(context);
        }
    }
}
