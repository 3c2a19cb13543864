package io.dbsemaphore.samples.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.samples.benchmark.contestant.Approach;
import io.dbsemaphore.samples.benchmark.cost.Scale;
import io.dbsemaphore.samples.benchmark.database.Target;
import io.dbsemaphore.testing.TestDatabase;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Optional;
import javax.xml.parsers.DocumentBuilderFactory;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;

/** Once through it, in rounds too short to mean anything; without the workloads that crowd a small machine. */
@TestInstance(Lifecycle.PER_CLASS)
class BenchmarkIntegrationTests {

    private static final String ONLY = "1-thread,64-semaphores,two-names-1,two-jvms,held,history,snapshot";
    private static final int WORKLOADS_OF_ALL = 3;
    private static final int WORKLOADS_OF_SEVERAL_NAMES = 1;
    private static final int BARS = 14;
    private static final int BARS_OF_OTHER_WORKLOADS = 7;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private TestDatabase.Schema database;
    private Path output;

    @BeforeAll
    void run(@TempDir Path directory) throws Exception {
        output = directory;
        database = TestDatabase.createForProcesses();
        Options options = Options.parse("--only=" + ONLY);
        Target target = new Target(database.jdbcUrl(), database.username(), database.password());
        Options tiny = new Options(
                Optional.of(target),
                null,
                Duration.ofMillis(100),
                Duration.ofMillis(100),
                1,
                options.only(),
                new Scale(List.of(2, 100), List.of(0, 200), 150),
                output);
        new Benchmark(tiny, target, new Console(new PrintStream(printed, true, StandardCharsets.UTF_8))).run();
    }

    @AfterAll
    void drop() {
        database.close();
    }

    @Test
    void measuresEachContestantOnEachWorkloadItSuits() throws Exception {
        List<String> rows = Files.readAllLines(output.resolve("results.csv"));
        for (Approach approach : Approach.values()) {
            int expected = approach == Approach.REDISSON
                    ? 0
                    : WORKLOADS_OF_ALL + (approach.takesSeveral() ? WORKLOADS_OF_SEVERAL_NAMES : 0);
            assertThat(rows)
                    .filteredOn(row -> row.split(",", -1)[3].equals(approach.label()))
                    .as(approach.label())
                    .hasSize(expected);
        }
    }

    @Test
    void timesAcquiresOfTheLibraryWithoutFailures() throws Exception {
        assertThat(Files.readAllLines(output.resolve("results.csv")))
                .filteredOn(row -> row.contains("," + Approach.LIBRARY.label() + ","))
                .allSatisfy(row -> {
                    assertThat(Double.parseDouble(row.split(",", -1)[7]))
                            .as("p50")
                            .isPositive();
                    assertThat(row.split(",", -1)[10]).as("failures").isEqualTo("0");
                });
    }

    @Test
    void measuresCosts() throws Exception {
        assertThat(Files.readAllLines(output.resolve("costs.csv")))
                .hasSize(1 + 2 + 2 + 2)
                .filteredOn(row -> row.matches(".*,\\d+\\.\\d+,\\d+\\.\\d+,[1-9]\\d*"))
                .hasSize(2 + 2 + 2);
    }

    @Test
    void readsEveryBarOfWhatWasMeasured() throws Exception {
        assertThat(Files.readAllLines(output.resolve("bars.csv")))
                .hasSize(1 + BARS)
                .filteredOn(row -> row.contains("not measured"))
                .hasSize(BARS_OF_OTHER_WORKLOADS);
    }

    @Test
    void drawsCharts() throws Exception {
        for (String chart : List.of("pairs-per-second.svg", "acquire-p99.svg", "acquire-cost.svg")) {
            assertThat(DocumentBuilderFactory.newInstance()
                            .newDocumentBuilder()
                            .parse(output.resolve(chart).toFile())
                            .getElementsByTagName("rect")
                            .getLength())
                    .as(chart)
                    .isGreaterThanOrEqualTo(1 + 1 + 6); // ground, legend, columns
        }
    }

    @Test
    void printsWhatItFoundAndWhatWasLeftOut() {
        assertThat(printed.toString(StandardCharsets.UTF_8))
                .contains("LEFT OUT: no --redis= was given")
                .contains("2 JVMs x 32 threads, 1 semaphore")
                .contains("of 7 bars reached, 7 not measured");
    }

    @Test
    void leavesNoTable() {
        assertThat(database.jdbc().queryForList("select table_name from information_schema.tables", String.class))
                .noneMatch(table -> table.toLowerCase(Locale.ROOT).startsWith("bench_"));
    }
}
