package io.dbsemaphore.tools.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.tools.benchmark.approach.Approach;
import io.dbsemaphore.tools.benchmark.approach.LibraryBuild;
import java.io.ByteArrayOutputStream;
import java.io.PrintStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.util.FileSystemUtils;

/** One run with an earlier build, in rounds too short to mean anything, without the scenarios that crowd a small machine. */
@Slow
@TestInstance(Lifecycle.PER_CLASS)
class BenchmarkIntegrationTests {

    private static final String ONLY = "1-thread,64-semaphores,two-names-1,two-jvms,held,history,snapshot";
    private static final int SCENARIOS_OF_ALL = 3;
    private static final int SCENARIOS_OF_SEVERAL_NAMES = 1;
    private static final int NUMBERS_OF_ROWS = 3 + 3 + 2;
    private static final int ROUNDS = 2;

    private final ByteArrayOutputStream printed = new ByteArrayOutputStream();
    private TestDatabase.Schema database;
    private Path earlierBuild;
    private List<String> rows;
    private Figures figures;
    private String picture;

    @BeforeAll
    void run(@TempDir Path directory) throws Exception {
        earlierBuild = directory.resolve("earlier");
        Path library = Path.of(LibraryBuild.location());
        if (Files.isDirectory(library)) {
            FileSystemUtils.copyRecursively(library, earlierBuild);
        } else {
            Files.copy(library, earlierBuild);
        }
        database = TestDatabase.createForProcesses();
        Options options = Options.parse(
                "--url=" + database.jdbcUrl(),
                "--user=" + database.username(),
                "--password=" + database.password(),
                "--earlier=" + earlierBuild,
                "--only=" + ONLY,
                "--seconds=0.1",
                "--warm-up=0.1",
                "--rounds=" + ROUNDS,
                "--rows-divisor=500",
                "--output=" + directory,
                "--svg=" + directory.resolve("picture.svg"));
        new Benchmark(options, options.target(), new PrintStream(printed, true, StandardCharsets.UTF_8)).run();
        rows = Files.readAllLines(directory.resolve("results.csv"));
        figures = Figures.read(directory.resolve("picture.csv"));
        picture = Files.readString(directory.resolve("picture.svg"));
    }

    @AfterAll
    void drop() {
        database.close();
    }

    @Test
    void measuresEachApproachInEachScenarioThatItCanDo() {
        for (Approach approach : Approach.values()) {
            int scenarios = SCENARIOS_OF_ALL + (approach.acquiresSeveralNames() ? SCENARIOS_OF_SEVERAL_NAMES : 0);
            int expected = switch (approach) {
                case DB_SEMAPHORE -> 2 * (scenarios + NUMBERS_OF_ROWS);
                case REDISSON, UNFAIR, NOTIFIED, BY_SHARES, BY_MANY_SHARES, PLAIN_STATEMENTS ->
                    0; // not in the picture, or of other scenarios
                default -> scenarios;
            };
            assertThat(rows)
                    .filteredOn(row -> row.split(",")[4].equals(approach.id()))
                    .as(approach.label())
                    .hasSize(expected * ROUNDS);
        }
    }

    @Test
    void measuresTheLibraryWithoutFailures() {
        assertThat(rows)
                .filteredOn(row -> row.contains("," + Approach.DB_SEMAPHORE.id() + ","))
                .allSatisfy(row -> {
                    String[] cells = row.split(",");

                    assertThat(Double.parseDouble(cells[8])).as("p50").isPositive();
                    assertThat(cells[11]).as("failures").isEqualTo("0");
                });
    }

    @Test
    void comparesWithTheEarlierBuild() {
        assertThat(printed.toString(StandardCharsets.UTF_8))
                .contains("the earlier one " + earlierBuild)
                .contains("| DB Semaphore, earlier build |")
                .containsPattern(
                        "2 JVMs x 32 threads, 1 semaphore +\\| DB Semaphore +\\|[^|]+(\\| +\\S+ \\(\\S+\\) ){3}")
                .contains("Left out: Redisson");
    }

    @Test
    void drawsWhatItMeasuredAndSaysWhatIsMissing() {
        assertThat(figures.in(Scenario.TWO_JVMS))
                .extracting(Figures.Figure::approach)
                .containsExactly(
                        Approach.DB_SEMAPHORE,
                        Approach.BARE_UPDATE,
                        Approach.TEXTBOOK,
                        Approach.LOCK_REGISTRY,
                        Approach.SHEDLOCK);
        assertThat(figures.condition(Condition.COMMAND))
                .contains("--only=" + ONLY)
                .contains("--password=***");
        assertThat(picture)
                .isEqualTo(new Picture(figures).svg())
                .contains(Picture.rate(
                        figures.get(Scenario.SEMAPHORES_64, Approach.TEXTBOOK).pairsPerSecond()));
        assertThat(printed.toString(StandardCharsets.UTF_8))
                .contains("The picture lacks 1-thread of redisson, 32-threads of db-semaphore");
    }

    @Test
    void leavesNoTable() {
        assertThat(database.jdbc().queryForList("select table_name from information_schema.tables", String.class))
                .noneMatch(table -> table.toLowerCase(Locale.ROOT).startsWith("bench_"));
    }
}
