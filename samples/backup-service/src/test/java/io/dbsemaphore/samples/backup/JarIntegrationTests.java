package io.dbsemaphore.samples.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.jdbc.core.simple.JdbcClient;
import org.springframework.jdbc.datasource.DriverManagerDataSource;

/** The jar as it is shipped, started as it is, and from the beans that were prepared when it was built. */
class JarIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");
    private static final String PERMITS = """
            select s.name || ' ' || p.state from permit p join semaphore s on s.id = p.semaphore_id order by s.name
            """;
    private static final int EXIT_CODE_OF_SIGTERM = 143;

    private final HttpClient client = HttpClient.newHttpClient();

    private Path output;
    private String url;
    private @Nullable Process process;

    @BeforeEach
    void makeDirectory() throws IOException {
        Path directory = Files.createTempDirectory(Path.of("target").toAbsolutePath(), "jar-");
        output = directory.resolve("output");
        url = "jdbc:h2:file:" + directory.resolve("backups") + ";AUTO_SERVER=TRUE;WRITE_DELAY=0";
    }

    @AfterEach
    void kill() {
        if (process != null) {
            process.destroyForcibly();
        }
    }

    @ParameterizedTest
    @CsvSource({"false, Starting BackupApplication", "true, Starting AOT-processed BackupApplication"})
    void backsUpWithPermitsAndEndsOrderly(boolean aot, String start) throws Exception {
        process = new ProcessBuilder(
                        Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                        "-Dspring.aot.enabled=" + aot,
                        "-jar",
                        System.getProperty("sample.jar"),
                        "--server.port=0",
                        "--spring.datasource.url=" + url,
                        "--transfer.block=1ms",
                        "--logging.level.org.springframework.boot.tomcat=info")
                .redirectErrorStream(true)
                .redirectOutput(output.toFile())
                .start();
        String service = "http://localhost:" + port();
        assertThat(output()).contains(start);

        assertThat(get(service + "/actuator/semaphores"))
                .contains("\"backup\",\"capacity\":3", "\"network\",\"capacity\":5");
        HttpResponse<String> started = send(HttpRequest.newBuilder(URI.create(service + "/backups?snapshot=orders"))
                .POST(BodyPublishers.noBody()));
        assertThat(started.statusCode()).as(started::body).isEqualTo(202);
        String job = service + started.headers().firstValue("Location").orElseThrow();
        await().atMost(TIMEOUT).untilAsserted(() -> assertThat(get(job)).contains("\"state\":\"DONE\""));
        assertThat(query("select owner from semaphore_instance")).hasSize(1);

        process.destroy();
        assertThat(process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS))
                .as("exited")
                .isTrue();
        assertThat(process.exitValue()).as(this::output).isEqualTo(EXIT_CODE_OF_SIGTERM);
        assertThat(output()).doesNotContain("WARN", "ERROR", "Exception");
        assertThat(query(PERMITS)).containsExactly("backup RELEASED", "network RELEASED");
        assertThat(query("select owner from semaphore_instance")).isEmpty();
    }

    private String port() {
        Matcher port = await().atMost(TIMEOUT)
                .until(
                        () -> {
                            assertThat(process.isAlive()).as(this::output).isTrue();
                            return PORT.matcher(output());
                        },
                        Matcher::find);
        return port.group(1);
    }

    private List<String> query(String sql) {
        return JdbcClient.create(new DriverManagerDataSource(url, "sa", ""))
                .sql(sql)
                .query(String.class)
                .list();
    }

    private String get(String uri) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(URI.create(uri))).body();
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return client.send(request.timeout(TIMEOUT).build(), BodyHandlers.ofString());
    }

    private String output() {
        try {
            return Files.readString(output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }
}
