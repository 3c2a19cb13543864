package io.dbsemaphore.tools.benchmark;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.tools.benchmark.approach.Approach;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

class ReportTests {

    private static final Case LIBRARY = new Case(Scenario.THREADS_32, Approach.DB_SEMAPHORE, false, 0, Duration.ZERO);

    private static final Case FAR =
            new Case(Scenario.THREADS_32, Approach.DB_SEMAPHORE, false, 0, Duration.ofNanos(500_000));

    private final Report report = new Report(
            List.of("On a server"),
            List.of(
                    result(new Case(Scenario.HELD, Approach.DB_SEMAPHORE, false, 1_000, Duration.ZERO), 20, 20, 20),
                    result(LIBRARY, 1_200, 4_000, 3_000),
                    result(LIBRARY.with(Approach.DB_SEMAPHORE, true), 1_000, 2_000, 3_000),
                    result(LIBRARY.with(Approach.PLAIN_STATEMENTS, false), 800, 2_000, 1_000),
                    result(LIBRARY.with(Approach.BARE_UPDATE, false), 300, 500, 400),
                    result(FAR, 200, 400, 300)),
            List.of());

    @Test
    void comparesEachCaseWithTheOthersRoundByRound() {
        assertThat(report.markdown()).containsExactly("""
            | scenario                             | approach                    | pairs/s |    x bare UPDATE | x textbook |  x earlier build | x plain statements | acquire p50 ms | p99 ms | connections | grants per commit | client CPU µs | server CPU µs | trips a pair |
            | ------------------------------------ | --------------------------- | ------: | ---------------: | ---------: | ---------------: | -----------------: | -------------: | -----: | ----------: | ----------------: | ------------: | ------------: | -----------: |
            | 32 threads, 1 semaphore              | DB Semaphore                |   3,000 | 7.50 (4.00-8.00) |            | 1.20 (1.00-2.00) |   2.00 (1.50-3.00) |           2.00 |     40 |           3 |               2.0 |            80 |           140 |              |
            | 32 threads, 1 semaphore              | DB Semaphore, earlier build |   2,000 | 4.00 (3.33-7.50) |            |                  |   1.25 (1.00-3.00) |           2.00 |     40 |           3 |               2.0 |            80 |               |              |
            | 32 threads, 1 semaphore              | plain statements            |   1,000 | 2.67 (2.50-4.00) |            |                  |                    |           2.00 |     40 |           3 |               2.0 |            80 |           140 |              |
            | 32 threads, 1 semaphore              | bare UPDATE                 |     400 |                  |            |                  |   0.38 (0.25-0.40) |           2.00 |     40 |           3 |               2.0 |            80 |           140 |              |
            | 32 threads, 1 semaphore, 0.5 ms away | DB Semaphore                |     300 |                  |            |                  |                    |           2.00 |     40 |           3 |               2.0 |            80 |           140 |         3.00 |
            | 1 thread, 1,000 permits held         | DB Semaphore                |      20 |                  |            |                  |                    |           2.00 |     40 |           3 |               2.0 |            80 |           140 |              |

            32 threads, 1 semaphore, bare UPDATE: 1 failures, the first: it broke""".split("\n"));
    }

    @Test
    void writesEachRoundAsCommaSeparatedValues(@TempDir Path directory) throws Exception {
        report.write(directory);
        assertThat(Files.readAllLines(directory.resolve("results.csv")))
                .hasSize(1 + 6 * 3)
                .startsWith("scenario,rows,jvms,threads,approach,build,round,pairs_per_second,"
                        + "acquire_p50_ms,acquire_p99_ms,connections,failures,grants_per_commit,client_cpu_us,server_cpu_us,"
                        + "delay_us,trips_per_pair")
                .contains(
                        "32-threads,0,1,32,db-semaphore,current,2,4000.0,2.0000,40.0000,2,0,2.00,80.0,140.0,0,",
                        "32-threads,0,1,32,db-semaphore,earlier,1,1000.0,2.0000,40.0000,1,0,2.00,80.0,,0,",
                        "32-threads,0,1,32,bare-update,current,3,400.0,2.0000,40.0000,3,1,2.00,80.0,140.0,0,",
                        "held,1000,1,1,db-semaphore,current,1,20.0,2.0000,40.0000,1,0,2.00,80.0,140.0,0,",
                        "32-threads,0,1,32,db-semaphore,current,3,300.0,2.0000,40.0000,3,0,2.00,80.0,140.0,500,3.000");
        assertThat(Files.readAllLines(directory.resolve("results.md")))
                .startsWith("On a server", "")
                .containsAll(report.markdown());
    }

    /** Rounds of two seconds with three acquires; the last one of bare UPDATE has a failure. */
    private static Result result(Case measured, int... pairsPerSecond) {
        List<Measurement> rounds = new ArrayList<>();
        for (int rate : pairsPerSecond) {
            long[] acquires = {2_000_000, 40_000_000, 1_000_000};
            boolean failed = measured.approach() == Approach.BARE_UPDATE && rounds.size() == 2;
            rounds.add(new Measurement(
                    Duration.ofSeconds(2),
                    rate * 2L,
                    acquires,
                    rounds.size() + 1,
                    failed ? 1 : 0,
                    failed ? "it broke" : null,
                    rate * 2L * 80_000,
                    new ServerWork(
                            rate,
                            measured.earlierBuild() ? 0 : rate * 2L * 140_000,
                            measured.delay().isZero() ? 0 : rate * 2L * 3)));
        }
        return new Result(measured, rounds);
    }
}
