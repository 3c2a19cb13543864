package io.dbsemaphore.tools.benchmark;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.tools.benchmark.Figures.Figure;
import io.dbsemaphore.tools.benchmark.approach.Approach;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Arrays;
import java.util.EnumMap;
import java.util.List;
import java.util.Map;
import java.util.NoSuchElementException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class FiguresTests {

    private static final Case LIBRARY = new Case(Scenario.THREADS_32, Approach.DB_SEMAPHORE, false, 0, Duration.ZERO);

    @Test
    void areTheMediansOfTheCurrentBuildInTheScenariosOfThePicture() {
        Figures figures = Figures.of(
                Map.of(),
                List.of(
                        result(LIBRARY, 1_200, 4_000, 3_000),
                        result(LIBRARY.with(Approach.DB_SEMAPHORE, true), 1, 1, 1),
                        result(new Case(Scenario.HELD, Approach.DB_SEMAPHORE, false, 10, Duration.ZERO), 1, 1, 1)));

        assertThat(figures.figures())
                .containsExactly(new Figure(Scenario.THREADS_32, Approach.DB_SEMAPHORE, 3_000, 2, 3));
    }

    @Test
    void areReadAsTheyWereWritten(@TempDir Path directory) throws Exception {
        Figures figures = new Figures(
                new EnumMap<>(Map.of(Condition.DATE, "2026-11-29", Condition.DURABILITY, "fsync: on, log=1")),
                List.of(
                        new Figure(Scenario.ONE_THREAD, Approach.DB_SEMAPHORE, 812.5, 0.6212, 0),
                        new Figure(Scenario.ONE_THREAD, Approach.SHEDLOCK, 0, Double.NaN, 7)));
        Path file = directory.resolve("figures.csv");

        figures.write(file);

        assertThat(Figures.read(file)).isEqualTo(figures);
        assertThat(Files.readAllLines(file))
                .startsWith("# date: 2026-11-29", "# durability: fsync: on, log=1")
                .contains("1-thread,db-semaphore,812.5,0.6212,0");
    }

    @Test
    void tellWhatIsMissing() {
        Figures figures = new Figures(
                Map.of(), List.of(new Figure(Scenario.REUSE_32, Approach.DB_SEMAPHORE, 1_000_000, 0.001, 0)));

        assertThat(figures.missing())
                .hasSize(5 * 6 + 2)
                .contains("1-thread of db-semaphore", "reuse-32 of redisson")
                .doesNotContain("reuse-32 of db-semaphore", "reuse-32 of shedlock");
        assertThatThrownBy(() -> figures.get(Scenario.ONE_THREAD, Approach.SHEDLOCK))
                .isInstanceOf(NoSuchElementException.class)
                .hasMessage("ShedLock, 1 thread, 1 semaphore");
    }

    /** Rounds of two seconds with three acquires and a failure. */
    private static Result result(Case measured, int... pairsPerSecond) {
        return new Result(
                measured,
                Arrays.stream(pairsPerSecond)
                        .mapToObj(rate -> new Measurement(
                                Duration.ofSeconds(2),
                                rate * 2L,
                                new long[] {2_000_000, 40_000_000, 1_000_000},
                                1,
                                1,
                                "it broke",
                                0,
                                ServerWork.UNKNOWN))
                        .toList());
    }
}
