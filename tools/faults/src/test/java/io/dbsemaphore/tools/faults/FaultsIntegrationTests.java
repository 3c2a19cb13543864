package io.dbsemaphore.tools.faults;

import static java.util.stream.Collectors.toMap;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;

import io.dbsemaphore.testing.FaultSuite;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.rerun.Promise;
import io.dbsemaphore.tools.faults.attack.ContainerServer;
import io.dbsemaphore.tools.faults.attack.DatabaseServer;
import io.dbsemaphore.tools.faults.attack.FakeTime;
import io.dbsemaphore.tools.faults.oracle.Event;
import io.dbsemaphore.tools.faults.oracle.Findings;
import io.dbsemaphore.tools.faults.report.Report;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.TestInstance;
import org.junit.jupiter.api.TestInstance.Lifecycle;
import org.junit.jupiter.api.io.TempDir;
import org.testcontainers.DockerClientFactory;

/** Short runs: on the library as it is, together with an earlier build, and one in which too much is granted. */
@FaultSuite
@TestInstance(Lifecycle.PER_CLASS)
@Promise
class FaultsIntegrationTests {

    private DatabaseServer server;

    @BeforeAll
    void start() {
        assumeThat(DockerClientFactory.instance().isDockerAvailable())
                .as("A Docker engine, for a server that can be killed")
                .isTrue();
        server = ContainerServer.run(System.getProperty("semaphore.test.database", "mysql"), 0, FakeTime.isInstalled());
    }

    @AfterAll
    void stop() {
        if (server != null) {
            server.close();
        }
    }

    @Test
    void passesWhileClientsAndServerAreKilled(@TempDir Path directory) throws Exception {
        Report report = run(
                Map.of(),
                "--seconds=25",
                "--pace=0.5",
                "--clients=2",
                "--cuts=0.05",
                "--tolerance=15",
                "--output=" + directory);
        assertThat(report.markdown()).as("report").contains("Passed.");
        assertThat(report.isPassed()).isTrue();
        assertThat(Files.readString(directory.resolve("report.xml"))).contains("failures=\"0\"");
        Measurement.check(() -> {
            assertThat(report.figures().count(Event.Kind.KILLED))
                    .as("killed clients")
                    .isPositive();
            assertThat(report.figures().faults()).containsKey("server-killed");
            assertThat(report.figures().written()).as("protected writes").isPositive();
            assertThat(report.figures().sharedWaits())
                    .as("judged waits of callers with a share")
                    .isPositive();
            assertThat(report.commits()).as("replayed commits").isPositive();
        });
    }

    /** As while a fleet is rolled over. */
    @Test
    void passesWhileClientsOfAnEarlierBuildTakePart(@TempDir Path directory) throws Exception {
        String earlier = System.getProperty("earlier.build", "");
        assumeThat(earlier)
                .as("-Dearlier.build=, the classes of an earlier build")
                .isNotEmpty();
        Report report = run(
                Map.of(),
                "--seconds=25",
                "--pace=0.5",
                "--clients=4",
                "--threads=8",
                "--tolerance=15",
                "--earlier=" + earlier,
                "--output=" + directory);
        assertThat(report.markdown()).as("report").contains("Passed.");
        assertThat(report.isPassed()).isTrue();
    }

    @Test
    void failsIfMoreIsGrantedThanWasPromised(@TempDir Path directory) throws Exception {
        Report report = run(
                twiceTheNarrowOnes(),
                "--seconds=12",
                "--pace=1000",
                "--tolerance=15",
                "--clients=2",
                "--output=" + directory);
        assertThat(report.isPassed()).isFalse();
        assertThat(report.findings().count(Findings.Kind.OVER_GRANT)).isPositive();
        assertThat(report.findings().count(Findings.Kind.LOGGED_OVER_GRANT)).isPositive();
        assertThat(report.markdown())
                .as("growth")
                .anyMatch(line -> line.matches(
                        "\\| Used by client c\\d\\.1, for \\d+ s .*connections=.*heap KiB=.*threads=\\d+ → .*"));
        assertThat(report.markdown()).anyMatch(line -> line.startsWith("FAILED.") && line.contains("--seed=1"));
        assertThat(Files.readString(directory.resolve("report.xml"))).containsPattern("narrow-\\d: 2 of 1 held");
    }

    /** Enough of them that two callers surely meet, on a slow machine, too. */
    private static Map<String, Integer> twiceTheNarrowOnes() {
        return IntStream.range(0, Workload.OF_EACH).boxed().collect(toMap(Workload::narrow, any -> 2));
    }

    private Report run(Map<String, Integer> wrong, String... options) throws Exception {
        return new FaultRun(Options.parse(options), server, System.out, wrong).run();
    }
}
