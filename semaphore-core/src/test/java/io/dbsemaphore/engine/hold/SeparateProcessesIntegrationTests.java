package io.dbsemaphore.engine.hold;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import io.dbsemaphore.testing.node.SemaphoreRows;
import io.dbsemaphore.testing.rerun.Promise;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Several processes with nothing in common but the database. */
@Slow
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
@Promise
class SeparateProcessesIntegrationTests {

    private static final Duration START = Duration.ofSeconds(60);
    private static final int PROCESSES = 3;
    private static final int CAPACITY = 3;
    private static final int SECONDS = 8;

    @Measured
    @Test
    void keepTheLimitTogether() throws Exception {
        String name = SemaphoreRows.name("common");
        List<ChildJvm> processes = new ArrayList<>();
        try (Schema schema = TestDatabase.createForProcesses().migrate();
                Node node = Node.on(schema)) {
            startProcesses(schema, node, name, processes);
            processes.forEach(process -> process.awaitLine("READY", START));

            processes.forEach(process -> process.send("hammer %s %d %d".formatted(name, CAPACITY, SECONDS)));
            CompletableFuture<Peaks> seenFromOutside = CompletableFuture.supplyAsync(() -> peaks(schema, name));
            List<String[]> results = processes.stream()
                    .map(process -> process.awaitLine("HAMMERED", START).split(" "))
                    .toList();

            int seenByHolders = results.stream()
                    .mapToInt(result -> Integer.parseInt(result[2]))
                    .max()
                    .orElseThrow();
            assertThat(seenByHolders).as("the most that a holder has seen").isLessThanOrEqualTo(CAPACITY);
            Peaks seen = seenFromOutside.get(START.toSeconds(), TimeUnit.SECONDS);
            assertThat(seen.held()).as("the most that were held").isLessThanOrEqualTo(CAPACITY);
            assertThat(seen.inside()).as("the most that were inside").isLessThanOrEqualTo(CAPACITY);
            new SemaphoreRows(schema).assertNothingHeld(List.of(name));
            Measurement.check(() -> {
                assertThat(results)
                        .as("grants and peaks of the processes")
                        .allSatisfy(result -> assertThat(Integer.parseInt(result[1]))
                                .as("grants")
                                .isPositive());
                assertThat(seenByHolders).as("the most that a holder has seen").isGreaterThan(1);
                assertThat(seen.held()).as("the most that were held").isGreaterThan(1);
                assertThat(seen.inside()).as("the most that were inside").isPositive();
            });
        } finally {
            processes.forEach(ChildJvm::close);
        }
    }

    /** While an acquire had to wait for the start of Hibernate, there were none to three grants in this time. */
    @Measured
    @Test
    void getGrantsInTheirFirstSeconds() {
        String name = SemaphoreRows.name("common");
        List<ChildJvm> processes = new ArrayList<>();
        try (Schema schema = TestDatabase.createForProcesses().migrate();
                Node node = Node.on(schema)) {
            startProcesses(schema, node, name, processes);
            processes.parallelStream().forEach(process -> {
                process.awaitLine("READY", START);
                process.send("hammer %s 1 4".formatted(name));
            });

            List<Integer> grants = processes.stream()
                    .map(process ->
                            Integer.valueOf(process.awaitLine("HAMMERED", START).split(" ")[1]))
                    .toList();
            Measurement.check(() -> assertThat(grants)
                    .as("grants in four seconds")
                    .allSatisfy(each -> assertThat(each).isGreaterThan(10)));
        } finally {
            processes.forEach(ChildJvm::close);
        }
    }

    private static void startProcesses(Schema schema, Node node, String name, List<ChildJvm> processes) {
        node.admin().create(name, CAPACITY);
        Witness.createTable(schema.jdbc());
        for (int i = 0; i < PROCESSES; i++) {
            processes.add(ChildJvm.start(SemaphoreProcess.class, schema.handOver(), "5", "10"));
        }
    }

    private static Peaks peaks(Schema schema, String name) {
        long end = System.nanoTime() + TimeUnit.SECONDS.toNanos(SECONDS);
        SemaphoreRows rows = new SemaphoreRows(schema);
        Peaks peaks = new Peaks(0, 0);
        while (System.nanoTime() < end) {
            peaks = new Peaks(
                    Math.max(peaks.held(), rows.held(name)), Math.max(peaks.inside(), Witness.sum(schema.jdbc())));
        }
        return peaks;
    }

    /** The most that were held, and the most that were inside, while the processes hammered. */
    private record Peaks(int held, int inside) {}
}
