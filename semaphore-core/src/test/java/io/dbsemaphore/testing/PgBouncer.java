package io.dbsemaphore.testing;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.TestDatabase.Schema;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Assumptions;

/**
 * A real PgBouncer before the PostgreSQL of the tests, in transaction mode: each transaction of a client gets one of a few
 * sessions of the server. It is Debian's package {@code pgbouncer}; the tests are skipped where it is not installed.
 */
public final class PgBouncer implements AutoCloseable {

    /** The sessions of the server that all clients share. */
    public static final int SESSIONS = 3;

    private final int port;
    private final Schema schema;
    private final Path directory;
    private Process process;

    private PgBouncer(Schema schema) throws IOException {
        this.schema = schema;
        try (ServerSocket free = new ServerSocket(0)) {
            port = free.getLocalPort();
        }
        directory = Files.createTempDirectory("pgbouncer-");
        Files.setPosixFilePermissions(directory, PosixFilePermissions.fromString("rwxr-xr-x"));
        Files.writeString(directory.resolve("pgbouncer.ini"), configuration());
        process = run();
    }

    /** Starts one; skips the test where there is none. */
    public static PgBouncer before(Schema schema) {
        Assumptions.assumeTrue(
                executable() != null,
                "No PgBouncer on this machine: nothing is tested behind it. Install the package pgbouncer");
        try {
            return new PgBouncer(schema);
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    /** The database of the schema behind it, without server-side prepared statements, which belong to one session. */
    public String url() {
        return "jdbc:postgresql://127.0.0.1:%d/%s?prepareThreshold=0".formatted(port, schema.name());
    }

    /** Kills it, with all connections of clients and servers, and starts it again. */
    public void restart() throws IOException, InterruptedException {
        process.destroyForcibly().waitFor();
        process = run();
    }

    private String configuration() {
        String server = schema.jdbcUrl().replaceFirst("^jdbc:postgresql://", "").replaceFirst("/.*", "");
        return """
                [databases]
                %s = host=%s port=%s user=%s password=%s
                [pgbouncer]
                listen_addr = 127.0.0.1
                listen_port = %d
                unix_socket_dir =
                auth_type = any
                pool_mode = transaction
                default_pool_size = %d
                max_client_conn = 200
                ignore_startup_parameters = extra_float_digits
                """.formatted(
                        schema.name(),
                        server.split(":")[0].replace("localhost", "127.0.0.1"),
                        server.split(":")[1],
                        schema.username(),
                        schema.password(),
                        port,
                        SESSIONS);
    }

    private Process run() throws IOException {
        List<String> command = new ArrayList<>(List.of(executable().toString()));
        if ("root".equals(System.getProperty("user.name"))) {
            command.addAll(List.of("-u", "nobody")); // it does not run as root
        }
        command.add(directory.resolve("pgbouncer.ini").toString());
        Process started = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve("output").toFile())
                .start();
        Awaitility.await("PgBouncer on port " + port)
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

    private String output() {
        try {
            return Files.readString(directory.resolve("output"));
        } catch (IOException failure) {
            throw new UncheckedIOException(failure);
        }
    }

    private static Path executable() {
        return List.of(Path.of("/usr/sbin/pgbouncer"), Path.of("/usr/bin/pgbouncer")).stream()
                .filter(Files::isExecutable)
                .findFirst()
                .orElse(null);
    }

    @Override
    public void close() {
        process.destroyForcibly();
        DatabaseServer.delete(directory);
    }
}
