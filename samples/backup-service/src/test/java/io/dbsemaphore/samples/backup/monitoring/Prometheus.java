package io.dbsemaphore.samples.backup.monitoring;

import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.URI;
import java.net.URLEncoder;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.net.http.HttpResponse.BodyHandlers;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.json.JsonMapper;

/** A Prometheus server that scrapes one application every second. */
final class Prometheus implements AutoCloseable {

    private static final Duration SOON = Duration.ofSeconds(30);
    private static final Pattern LISTENS = Pattern.compile("Listening on.* address=127\\.0\\.0\\.1:(\\d+)");

    private final HttpClient client = HttpClient.newHttpClient();
    private final Path log;
    private final Process process;
    private final Thread atExit;
    private String address = "";

    /**
     * @param directory where it keeps its data
     * @param rules the alert rules that it evaluates
     * @param port that of the application, on this machine
     */
    Prometheus(Path executable, Path directory, Path rules, String port) throws IOException {
        Path configuration = Files.writeString(directory.resolve("prometheus.yml"), """
                global: {scrape_interval: 1s, evaluation_interval: 1s}
                rule_files: ['%s']
                scrape_configs:
                  - job_name: sample
                    metrics_path: /actuator/prometheus
                    static_configs: [{targets: ['127.0.0.1:%s']}]
                """.formatted(rules, port));
        log = directory.resolve("prometheus.log");
        process = new ProcessBuilder(
                        executable.toString(),
                        "--config.file=" + configuration,
                        "--storage.tsdb.path=" + directory.resolve("data"),
                        "--web.listen-address=127.0.0.1:0")
                .redirectErrorStream(true)
                .redirectOutput(log.toFile())
                .start();
        atExit = new Thread(process::destroyForcibly);
        Runtime.getRuntime().addShutdownHook(atExit);
    }

    void awaitStart() {
        address = await().atMost(SOON).until(this::address, found -> !found.isEmpty());
        await().atMost(SOON).until(() -> answer("/-/ready").statusCode() == 200);
    }

    /** As its log has it, or empty while it does not listen yet. */
    private String address() throws IOException {
        String output = Files.readString(log);
        if (!process.isAlive()) {
            throw new IllegalStateException("Prometheus has ended:\n" + output);
        }
        Matcher listens = LISTENS.matcher(output);
        return listens.find() ? "http://127.0.0.1:" + listens.group(1) : "";
    }

    /** The series that an expression has now. */
    JsonNode query(String expression) {
        return get("query?query=" + URLEncoder.encode(expression, StandardCharsets.UTF_8))
                .at("/data/result");
    }

    /** The rules that it evaluates. */
    JsonNode rules() {
        return get("rules").at("/data/groups/0/rules");
    }

    private JsonNode get(String path) {
        String answer = answer("/api/v1/" + path).body();
        JsonNode json = JsonMapper.shared().readTree(answer);
        if (!json.at("/status").asString().equals("success")) {
            throw new IllegalArgumentException(answer);
        }
        return json;
    }

    private HttpResponse<String> answer(String path) {
        try {
            return client.send(
                    HttpRequest.newBuilder(URI.create(address + path))
                            .timeout(SOON)
                            .build(),
                    BodyHandlers.ofString());
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
            throw new IllegalStateException(e);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly().onExit().join();
        Runtime.getRuntime().removeShutdownHook(atExit);
    }
}
