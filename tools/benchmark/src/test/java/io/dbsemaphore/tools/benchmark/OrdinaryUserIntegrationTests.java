package io.dbsemaphore.tools.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run by a user that has all privileges on its own database, and none beside. */
@Slow
@EnabledOnDatabase(DatabaseKind.MYSQL)
class OrdinaryUserIntegrationTests {

    private static final String PASSWORD = "ordinary";

    private final TestDatabase.Schema database = TestDatabase.createForProcesses();
    private final String user = "bench_" + ProcessHandle.current().pid();

    @BeforeEach
    void createUser() {
        database.jdbc().execute("create user '%s'@'%%' identified by '%s'".formatted(user, PASSWORD));
        database.jdbc().execute("grant all on %s.* to '%s'@'%%'".formatted(database.name(), user));
    }

    @AfterEach
    void dropUser() {
        database.jdbc().execute("drop user '%s'@'%%'".formatted(user));
        database.close();
    }

    @Test
    void leavesOutWhatTheUserMayNotRead(@TempDir Path directory) throws Exception {
        Options options = Options.parse(
                "--url=" + database.jdbcUrl(),
                "--user=" + user,
                "--password=" + PASSWORD,
                "--only=1-thread,16-jvms-waiting",
                "--approaches=db-semaphore",
                "--seconds=0.1",
                "--warm-up=0.1",
                "--rounds=1",
                "--output=" + directory);
        ByteArrayOutputStream printed = new ByteArrayOutputStream();

        new Benchmark(options, options.target(), new PrintStream(printed, true, StandardCharsets.UTF_8)).run();

        assertThat(printed.toString(StandardCharsets.UTF_8))
                .contains(
                        "Left out: grants per commit, and 16-jvms-waiting, since the user may not read performance_schema")
                .doesNotContain("instances waiting");
        assertThat(Files.readAllLines(directory.resolve("results.csv")))
                .hasSize(2)
                .last()
                .satisfies(row -> {
                    String[] cells = row.split(",", -1);
                    assertThat(cells[11]).as("failures").isEqualTo("0");
                    assertThat(cells[12]).as("grants per commit").isEmpty();
                });
    }
}
