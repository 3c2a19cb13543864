package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assumptions.assumeThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.node.Node;
import java.io.File;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;

/** Callers with shares beside one that waits in a process with an earlier build of the library. */
@Tag("faults") // .ci/run gives these the earlier build
class EarlierBuildIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(30);

    /** If the earlier build knows no shares, all order by arrival while it waits: two orders would leave permits idle. */
    @Measured // the record of an instance is valid for about a second
    @Test
    void allInstancesHaveOneOrder() {
        String earlier = System.getProperty("earlier.build", "");
        assumeThat(earlier)
                .as("-Dearlier.build=, the classes of an earlier build")
                .isNotEmpty();
        boolean knowsShares = Stream.of(earlier.split(File.pathSeparator))
                .anyMatch(each -> Files.exists(Path.of(each, "io", "dbsemaphore", "line", "ShareTags.class")));
        try (Schema schema = TestDatabase.createForProcesses().migrate();
                Node node = Node.on(schema);
                ChildJvm process = ChildJvm.startWithClasses(earlier, EarlierBuildProcess.class, schema.handOver())) {
            process.awaitLine("READY", SOON);
            ShareCallers line = new ShareCallers(List.of(node), node.semaphore(1)).hold(1);
            line.join("a", "a", "a", "b");
            process.send(line.name());
            await("the caller of the earlier build")
                    .atMost(SOON)
                    .until(
                            () -> schema.jdbc()
                                    .queryForList("select instance from semaphore_waiter where waiting > 0", Long.class)
                                    .size(),
                            instances -> instances == 2);

            line.serve(3);
            List<String> whileItWaits = line.served();
            line.serveAll();
            process.awaitLine("RELEASED", SOON);

            Measurement.check(() ->
                    assertThat(whileItWaits).isEqualTo(knowsShares ? List.of("a", "b", "a") : List.of("a", "a", "a")));

            line.hold(1).join("a", "a", "b").serveAll();
            assertThat(line.served().subList(4, 6)).as("later, by shares").contains("b");
        }
    }
}
