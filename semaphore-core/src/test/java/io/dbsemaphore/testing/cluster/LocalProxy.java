package io.dbsemaphore.testing.cluster;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.DatabaseServer;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.List;
import java.util.function.Function;
import java.util.function.IntFunction;
import java.util.stream.Stream;
import org.awaitility.Awaitility;
import org.awaitility.core.TerminalFailureException;
import org.junit.jupiter.api.Assumptions;

/** A program of this machine that stands before a database and listens on a port of 127.0.0.1. */
final class LocalProxy implements AutoCloseable {

    private static final Path PROGRAMS = Path.of("/usr/sbin");
    private static final int ATTEMPTS = 3;

    private final int port;
    private final Path directory;
    private final List<String> command;
    private Process process;

    private LocalProxy(int port, Path directory, List<String> command) throws IOException {
        this.port = port;
        this.directory = directory;
        this.command = command;
        process = run();
    }

    /** Skips the test where a Debian package is not installed, whose program has the same name. */
    static void assumeInstalled(String program) {
        Assumptions.assumeTrue(
                Files.isExecutable(PROGRAMS.resolve(program)),
                () -> "No %1$s on this machine: nothing is tested behind it. Install the package %1$s"
                        .formatted(program));
    }

    /**
     * Starts one.
     *
     * @param configuration by the port to listen on
     * @param options by the file that has the configuration
     */
    static LocalProxy start(String program, IntFunction<String> configuration, Function<Path, List<String>> options) {
        assumeInstalled(program);
        for (int attempt = 1; ; attempt++) {
            try {
                return startOnce(program, configuration, options);
            } catch (TerminalFailureException ended) { // another program may have taken the port
                if (attempt == ATTEMPTS) {
                    throw ended;
                }
            }
        }
    }

    private static LocalProxy startOnce(
            String program, IntFunction<String> configuration, Function<Path, List<String>> options) {
        try (ServerSocket free = new ServerSocket(0)) {
            int port = free.getLocalPort();
            free.close();
            Path directory = Files.createTempDirectory(program + "-");
            Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
            Path file = directory.resolve("configuration");
            Files.writeString(file, configuration.apply(port));
            List<String> command = Stream.concat(
                            Stream.of(PROGRAMS.resolve(program).toString()), options.apply(file).stream())
                    .toList();
            return new LocalProxy(port, directory, command);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    int port() {
        return port;
    }

    /** Kills it, with all connections of clients and servers, and starts it again. */
    void restart() throws IOException, InterruptedException {
        process.destroyForcibly().waitFor();
        process = run();
    }

    private Process run() throws IOException {
        Process started = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("output").toFile())
                .start();
        Awaitility.await(command.get(0) + " on port " + port)
                .atMost(Duration.ofSeconds(30))
                .pollInterval(Duration.ofMillis(20))
                .ignoreExceptionsInstanceOf(IOException.class)
                .failFast(() -> assertThat(started.isAlive()).as(this::output).isTrue())
                .until(() -> {
                    try (Socket socket = new Socket()) {
                        socket.connect(new InetSocketAddress("127.0.0.1", port), 1_000);
                        return true;
                    }
                });
        return started;
    }

    /** What it has said since it was started. */
    String output() {
        try {
            return Files.readString(directory.resolve("output"));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    @Override
    public void close() {
        process.destroyForcibly();
        DatabaseServer.delete(directory);
    }
}
