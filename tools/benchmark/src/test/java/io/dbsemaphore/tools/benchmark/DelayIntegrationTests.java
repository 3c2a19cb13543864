package io.dbsemaphore.tools.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.within;

import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Collectors;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A run at two distances. */
@Slow
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.POSTGRESQL})
class DelayIntegrationTests {

    private static final int APPROACH = 4;
    private static final int ACQUIRE_P50 = 8;
    private static final int FAILURES = 11;
    private static final int DELAY = 15;
    private static final int TRIPS = 16;

    @Test
    void measuresEachDelayAndCountsItsTrips(@TempDir Path directory) throws Exception {
        ByteArrayOutputStream printed = new ByteArrayOutputStream();
        try (TestDatabase.Schema database = TestDatabase.createForProcesses()) {
            Options options = Options.parse(
                    "--url=" + database.jdbcUrl(),
                    "--user=" + database.username(),
                    "--password=" + database.password(),
                    "--only=1-thread",
                    "--approaches=db-semaphore,plain-statements,bare-update",
                    "--delay=0,20ms",
                    "--seconds=2",
                    "--warm-up=1",
                    "--rounds=1",
                    "--output=" + directory);
            new Benchmark(options, options.target(), new PrintStream(printed, true, StandardCharsets.UTF_8)).run();
        }
        Map<String, List<String[]>> rows = Files.readAllLines(directory.resolve("results.csv")).stream()
                .skip(1)
                .map(row -> row.split(",", -1))
                .collect(Collectors.groupingBy(cells -> cells[DELAY]));

        assertThat(rows).containsOnlyKeys("0", "20000");
        assertThat(rows.get("0")).hasSize(3).allSatisfy(cells -> {
            assertThat(cells[FAILURES]).isEqualTo("0");
            assertThat(cells[TRIPS]).isEmpty();
        });
        assertThat(rows.get("20000")).hasSize(3).allSatisfy(cells -> {
            assertThat(cells[FAILURES]).isEqualTo("0");
            double trips = Double.parseDouble(cells[TRIPS]);
            double acquireMillis = Double.parseDouble(cells[ACQUIRE_P50]);
            // the pair that was going on when the round ended is not counted, but its trips are
            switch (cells[APPROACH]) {
                case "bare-update" -> {
                    assertThat(trips).isCloseTo(2, within(0.5));
                    assertThat(acquireMillis).isGreaterThan(20);
                }
                case "plain-statements" -> {
                    assertThat(trips).isCloseTo(3, within(0.5));
                    assertThat(acquireMillis).isGreaterThan(40);
                }
                default -> assertThat(trips).isGreaterThan(1.9); // heartbeats and prepared sessions have trips, too
            }
        });
        assertThat(printed.toString(StandardCharsets.UTF_8))
                .containsPattern("select 1 takes [\\d.]+ ms through the proxy of 20.00 ms, and [\\d.]+ ms directly")
                .contains("| 1 thread, 1 semaphore, 20 ms away | DB Semaphore");
    }
}
