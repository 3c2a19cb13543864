package io.dbsemaphore.samples.backup;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.ResultSet;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.TimeUnit;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Two processes of the sample, which know of each other through the database only. */
@Tag("slow")
class TwoInstancesIntegrationTests {

    private static final Duration TIMEOUT = Duration.ofMinutes(4);
    private static final long CAPACITY_OF_BACKUP = 3;
    private static final long CAPACITY_OF_NETWORK = 5;

    private final List<Process> processes = new ArrayList<>();

    private Path directory;

    @BeforeEach
    void makeDirectory() throws IOException {
        Path target = Files.createDirectories(Path.of("target").toAbsolutePath());
        directory = Files.createTempDirectory(target, "two-instances-");
    }

    @AfterEach
    void stop() {
        processes.forEach(Process::destroyForcibly);
    }

    @Test
    void keepLimitsTogether() throws Exception {
        Process first = start("first", "demo.duration=0s");
        Process second = start("second", "demo.duration=0s");
        assertThat(exitCode(first)).as(() -> output("first")).isZero();
        assertThat(exitCode(second)).as(() -> output("second")).isZero();
        assertThat(output("first")).contains("Jobs     22 of 2 instance(s): 22 done");
        assertThat(output("second")).contains("Jobs     22 of 2 instance(s): 22 done");
        assertThat(query("select count(distinct instance) from backup_job where state = 'DONE'"))
                .isEqualTo(2);
        assertThat(peak("kind = 'BACKUP'")).isBetween(2L, CAPACITY_OF_BACKUP);
        assertThat(peak("kind is not null")).isBetween(2L, CAPACITY_OF_NETWORK);
    }

    /** Short jobs: the killed process has started some after its last heartbeat. */
    @Test
    void seeThatTheLimitsHoldWhenOneIsKilled() throws Exception {
        String[] settings = {
            "demo.duration=8s", "demo.instance-timeout=8s", "semaphore.instance-timeout=8s", "transfer.block=20ms",
        };
        Process first = start("first", settings);
        await().atMost(TIMEOUT).until(() -> output("first").contains("This is process"));
        Process second = start("second", settings);
        await().atMost(TIMEOUT)
                .until(() -> Pattern.compile(second.pid() + " +\\S+ +done")
                        .matcher(output("first"))
                        .find());
        second.destroyForcibly().waitFor();

        assertThat(exitCode(first)).as(() -> output("first")).isZero();
        assertThat(output("first")).contains("of 2 instance(s)").doesNotContain(" 0 lost with their process");
    }

    private Process start(String name, String... settings) throws IOException {
        List<String> command = new ArrayList<>(List.of(
                Path.of(System.getProperty("java.home"), "bin", "java").toString(),
                "-Dliquibase.changelogLockPollRate=1",
                "-cp",
                System.getProperty("java.class.path"),
                BackupApplication.class.getName(),
                "--spring.profiles.active=demo",
                "--spring.datasource.url=" + url() + ";AUTO_SERVER=TRUE;WRITE_DELAY=0",
                "--demo.instances=2",
                "--demo.join-timeout=2m",
                "--transfer.min-blocks=2",
                "--transfer.max-blocks=4"));
        Stream.of(settings).map("--"::concat).forEach(command::add);
        Process process = new ProcessBuilder(command)
                .redirectErrorStream(true)
                .redirectOutput(directory.resolve(name).toFile())
                .start();
        processes.add(process);
        return process;
    }

    private static int exitCode(Process process) throws InterruptedException {
        assertThat(process.waitFor(TIMEOUT.toSeconds(), TimeUnit.SECONDS))
                .as("exited")
                .isTrue();
        return process.exitValue();
    }

    private String output(String name) {
        try {
            return Files.readString(directory.resolve(name));
        } catch (IOException e) {
            throw new IllegalStateException(e);
        }
    }

    /** How many jobs of a kind ran at the moment at which another one, or the same, had started. */
    private long peak(String kind) throws SQLException {
        return query("""
                select max(running) from (
                    select (select count(*) from backup_job other
                            where %1$s and other.started_at <= this.started_at
                            and other.ended_at > this.started_at) running
                    from backup_job this where %1$s) counts
                """.formatted(kind));
    }

    private long query(String sql) throws SQLException {
        try (Connection connection = DriverManager.getConnection(url(), "sa", "");
                Statement statement = connection.createStatement();
                ResultSet row = statement.executeQuery(sql)) {
            row.next();
            return row.getLong(1);
        }
    }

    private String url() {
        return "jdbc:h2:file:" + directory.resolve("backups");
    }
}
