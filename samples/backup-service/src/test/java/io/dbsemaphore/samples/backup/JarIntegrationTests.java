package io.dbsemaphore.samples.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** The jar as it is shipped, started as it is, and from the beans that were prepared when it was built. */
class JarIntegrationTests {

    private static final String PERMITS = """
            select s.name || ' ' || p.state from permit p join semaphore s on s.id = p.semaphore_id
            where s.name in ('backup', 'network') order by s.name
            """;
    private static final int EXIT_CODE_OF_SIGTERM = 143;

    @ParameterizedTest
    @CsvSource({"false, Starting BackupApplication", "true, Starting AOT-processed BackupApplication"})
    void backsUpWithPermitsAndEndsOrderly(boolean aot, String start) throws Exception {
        Path directory = Files.createTempDirectory(Path.of("target").toAbsolutePath(), "jar-");
        String url = "jdbc:h2:file:" + directory.resolve("backups") + ";AUTO_SERVER=TRUE;WRITE_DELAY=0";
        try (SampleProcess sample = SampleProcess.start(
                directory.resolve("output"),
                "-Dspring.aot.enabled=" + aot,
                "--spring.datasource.url=" + url,
                "--transfer.block=1ms")) {
            assertThat(sample.get("/actuator/semaphores"))
                    .contains("\"backup\",\"capacity\":3", "\"network\",\"capacity\":5");
            assertThat(sample.output()).contains(start);

            sample.awaitState(sample.backUp("orders"), JobState.DONE);
            assertThat(query(url, "select owner from semaphore_instance")).hasSize(1);

            assertThat(sample.stop()).as(sample::output).isEqualTo(EXIT_CODE_OF_SIGTERM);
            assertThat(sample.output()).doesNotContain("WARN", "ERROR", "Exception");
            assertThat(query(url, PERMITS)).containsExactly("backup RELEASED", "network RELEASED");
            assertThat(query(url, "select state from permit where state = 'ACQUIRED'"))
                    .isEmpty();
            assertThat(query(url, "select owner from semaphore_instance")).isEmpty();
        }
    }

    /** The demo, whose jobs are short, so that it submits some all the time. */
    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"TERM, 143", "INT, 130"})
    void theDemoEndsWithoutStackTracesWhileItSubmitsJobs(String signal, int exitCode) throws Exception {
        Path directory = Files.createTempDirectory(Path.of("target").toAbsolutePath(), "jar-");
        try (SampleProcess sample = SampleProcess.start(
                directory.resolve("output"),
                "--spring.profiles.active=demo",
                "--spring.datasource.url=jdbc:h2:file:" + directory.resolve("backups"),
                "--demo.duration=2m",
                "--transfer.block=100ms",
                "--transfer.min-blocks=1",
                "--transfer.max-blocks=10")) {
            await().atMost(Duration.ofMinutes(2))
                    .until(() -> sample.output()
                                    .lines()
                                    .filter(line -> line.contains(" done "))
                                    .count()
                            > 5);

            assertThat(sample.stop(signal)).as(sample::output).isEqualTo(exitCode);
            assertThat(sample.output()).doesNotContain("Exception", "\tat ");
        }
    }

    /** Some jobs work, others wait for permits, and a client submits more of them. */
    @Tag("slow")
    @ParameterizedTest
    @CsvSource({"TERM, 143", "INT, 130"})
    void endsWithoutStackTracesWhileAClientSubmitsJobs(String signal, int exitCode) throws Exception {
        Path directory = Files.createTempDirectory(Path.of("target").toAbsolutePath(), "jar-");
        try (SampleProcess sample = SampleProcess.start(
                directory.resolve("output"),
                "--spring.datasource.url=jdbc:h2:file:" + directory.resolve("backups"),
                "--spring.task.execution.shutdown.await-termination-period=1s")) {
            sample.awaitState(sample.backUp("first"), JobState.RUNNING);
            AtomicInteger submitted = new AtomicInteger();
            CompletableFuture<Void> client = CompletableFuture.runAsync(() -> submitUntilItEnds(sample, submitted));
            await().atMost(Duration.ofMinutes(1)).until(() -> submitted.get() > 8);

            assertThat(sample.stop(signal)).as(sample::output).isEqualTo(exitCode);
            client.join();
            assertThat(sample.output())
                    .doesNotContain("Exception", "\tat ")
                    .contains("was refused: this service stops");
        }
    }

    private static void submitUntilItEnds(SampleProcess sample, AtomicInteger submitted) {
        try {
            while (true) {
                sample.backUp("orders");
                submitted.incrementAndGet();
            }
        } catch (IOException ended) {
            // as it must
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }

    private static List<String> query(String url, String sql) {
        return JdbcClient.create(new DriverManagerDataSource(url, "sa", ""))
                .sql(sql)
                .query(String.class)
                .list();
    }
}
