package io.dbsemaphore.testing;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.InetSocketAddress;
import java.nio.ByteBuffer;
import java.nio.channels.Channels;
import java.nio.channels.FileChannel;
import java.nio.channels.FileLock;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.StandardOpenOption;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.springframework.util.FileSystemUtils;

/** A database server that runs for the tests of this JVM, and how it was started. */
public record DatabaseServer(
        DatabaseKind kind, String how, String host, int port, String username, String password, Runnable stop) {

    private static final int NO_SUCH_THREAD = 1094;

    /** As the server says, without what its packager has added. */
    String version() {
        try (Connection connection = connect();
                Statement statement = connection.createStatement();
                ResultSet version = statement.executeQuery(kind.versionQuery())) {
            version.next();
            return version.getString(1).replaceFirst("[- ].*", "");
        } catch (SQLException e) {
            throw new IllegalStateException(e);
        }
    }

    /** Says what the tests of this JVM run on: on the console and, for later, in a file. */
    public void announce() {
        String line = "Semaphore tests run on %s %s (%s)".formatted(kind.product(), version(), how);
        System.out.println(line);
        Path file = Path.of(System.getProperty("basedir", ""), "target", "test-database.txt");
        try {
            Files.createDirectories(file.toAbsolutePath().getParent());
            addOnce(line, file);
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    /** Other JVMs add the same line at the same time. */
    private static synchronized void addOnce(String line, Path file) throws IOException {
        try (FileChannel channel = FileChannel.open(
                        file, StandardOpenOption.CREATE, StandardOpenOption.READ, StandardOpenOption.WRITE);
                FileLock lock = channel.lock()) {
            String lines = new String(Channels.newInputStream(channel).readAllBytes(), StandardCharsets.UTF_8);
            if (lines.lines().noneMatch(line::equals)) {
                channel.write(ByteBuffer.wrap((line + "\n").getBytes(StandardCharsets.UTF_8)));
            }
        }
    }

    /**
     * A new database.
     *
     * @param processes whether other processes must be able to open it
     */
    public TestDatabase.Schema create(String name, boolean processes) {
        if (kind == DatabaseKind.H2) {
            return processes ? h2File(name) : h2Memory(name);
        }
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            statement.execute("create database " + name);
        } catch (SQLException e) {
            throw new IllegalStateException("Cannot create " + name, e);
        }
        InetSocketAddress address = new InetSocketAddress(host, port);
        return new TestDatabase.Schema(
                kind, name, kind.url(host, port, name), username, password, address, () -> drop(name));
    }

    private TestDatabase.Schema h2Memory(String name) {
        String url = kind.url(host, port, name);
        return new TestDatabase.Schema(kind, name, url, username, password, null, () -> shutDown(url));
    }

    private TestDatabase.Schema h2File(String name) {
        try {
            Path directory = Files.createTempDirectory(name);
            String url = "jdbc:h2:file:%s;AUTO_SERVER=TRUE".formatted(directory.resolve(name));
            return new TestDatabase.Schema(kind, name, url, username, password, null, () -> {
                shutDown(url);
                delete(directory);
            });
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
    }

    private void shutDown(String url) {
        try (Connection connection = DriverManager.getConnection(url, username, password);
                Statement statement = connection.createStatement()) {
            statement.execute("shutdown");
        } catch (SQLException e) {
            throw new IllegalStateException("Cannot shut down " + url, e);
        }
    }

    private void drop(String name) {
        try (Connection connection = connect();
                Statement statement = connection.createStatement()) {
            if (kind.isMySqlFamily()) {
                endSessions(connection, name);
            }
            statement.execute(
                    "drop database if exists " + name + (kind == DatabaseKind.POSTGRESQL ? " with (force)" : ""));
        } catch (SQLException e) {
            throw new IllegalStateException("Cannot drop " + name, e);
        }
    }

    /** A transaction that somebody has left open would make the drop wait. */
    private static void endSessions(Connection connection, String name) throws SQLException {
        try (Statement kill = connection.createStatement();
                Statement statement = connection.createStatement();
                ResultSet sessions = statement.executeQuery("show processlist")) {
            while (sessions.next()) {
                if (name.equals(sessions.getString("db"))) {
                    kill(kill, sessions.getLong("Id"));
                }
            }
        }
    }

    private static void kill(Statement kill, long session) throws SQLException {
        try {
            kill.execute("kill " + session);
        } catch (SQLException e) {
            if (e.getErrorCode() != NO_SUCH_THREAD) {
                throw e;
            }
        }
    }

    private Connection connect() throws SQLException {
        return DriverManager.getConnection(kind.url(host, port, kind.maintenanceDatabase()), username, password);
    }

    /** Deletes a directory for temporary files, in which a server that is just ending may still work for a moment. */
    public static void delete(Path directory) {
        Awaitility.await("deletion of " + directory)
                .pollDelay(Duration.ZERO)
                .pollInterval(Duration.ofMillis(50))
                .atMost(Duration.ofSeconds(20))
                .ignoreExceptions()
                .until(() -> FileSystemUtils.deleteRecursively(directory) || Files.notExists(directory));
    }
}
