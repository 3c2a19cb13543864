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
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** A process of the jar as it is shipped, on a free port. */
public final class SampleProcess implements AutoCloseable {

    private static final Duration TIMEOUT = Duration.ofMinutes(2);
    private static final Pattern PORT = Pattern.compile("Tomcat started on port (\\d+)");

    private final HttpClient client = HttpClient.newHttpClient();
    private final Process process;
    private final Path output;

    private SampleProcess(Process process, Path output) {
        this.process = process;
        this.output = output;
    }

    /**
     * Starts it.
     *
     * @param output where it prints to
     * @param options {@code -D…} for the JVM, {@code --…} for the application
     */
    public static SampleProcess start(Path output, String... options) throws IOException {
        // A shell that runs this build in the background lets its processes ignore Ctrl-C; this one must not.
        List<String> command = new ArrayList<>(List.of(
                "env",
                "--default-signal=INT",
                Path.of(System.getProperty("java.home"), "bin", "java").toString()));
        command.addAll(those(options, "-D"));
        command.addAll(List.of(
                "-jar",
                System.getProperty("sample.jar"),
                "--server.port=0",
                "--logging.level.org.springframework.boot.tomcat=info"));
        command.addAll(those(options, "--"));
        return new SampleProcess(
                new ProcessBuilder(command)
                        .redirectErrorStream(true)
                        .redirectOutput(output.toFile())
                        .start(),
                output);
    }

    private static List<String> those(String[] options, String prefix) {
        return List.of(options).stream()
                .filter(option -> option.startsWith(prefix))
                .toList();
    }

    /** Waits until it serves requests. */
    public String url(String path) {
        Matcher port = await().atMost(TIMEOUT)
                .until(
                        () -> {
                            assertThat(process.isAlive()).as(this::output).isTrue();
                            return PORT.matcher(output());
                        },
                        Matcher::find);
        return "http://localhost:" + port.group(1) + path;
    }

    public String get(String path) throws IOException, InterruptedException {
        return send(HttpRequest.newBuilder(URI.create(url(path)))).body();
    }

    /** Starts a backup, and returns the path of its job. */
    public String backUp(String snapshot) throws IOException, InterruptedException {
        HttpResponse<String> started = send(HttpRequest.newBuilder(URI.create(url("/backups?snapshot=" + snapshot)))
                .POST(BodyPublishers.noBody()));
        assertThat(started.statusCode()).as(started::body).isEqualTo(202);
        return started.headers().firstValue("Location").orElseThrow();
    }

    public void awaitState(String job, JobState state) {
        await().atMost(TIMEOUT).untilAsserted(() -> assertThat(get(job)).contains("\"state\":\"" + state + "\""));
    }

    private HttpResponse<String> send(HttpRequest.Builder request) throws IOException, InterruptedException {
        return client.send(request.timeout(TIMEOUT).build(), BodyHandlers.ofString());
    }

    public String output() {
        try {
            return Files.readString(output);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Asks it to end, as a service manager does, and returns its exit code. */
    public int stop() throws IOException, InterruptedException {
        return stop("TERM");
    }

    /** Sends it a signal, and returns its exit code. */
    public int stop(String signal) throws IOException, InterruptedException {
        new ProcessBuilder("kill", "-" + signal, String.valueOf(process.pid()))
                .inheritIO()
                .start()
                .waitFor();
        assertThat(process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS))
                .as("exited")
                .isTrue();
        return process.exitValue();
    }

    @Override
    public void close() {
        process.destroyForcibly();
    }
}
