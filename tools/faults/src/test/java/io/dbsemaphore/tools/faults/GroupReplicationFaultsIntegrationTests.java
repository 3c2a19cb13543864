package io.dbsemaphore.tools.faults;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.FaultSuite;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.cluster.GroupReplication;
import io.dbsemaphore.tools.faults.attack.DatabaseServer;
import io.dbsemaphore.tools.faults.attack.RemoteServer;
import io.dbsemaphore.tools.faults.oracle.Event;
import io.dbsemaphore.tools.faults.report.Report;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** A short run on three servers of a group, each of which one of the clients writes to. */
@FaultSuite
class GroupReplicationFaultsIntegrationTests {

    @Test
    void passesWhileClientsAreKilled(@TempDir Path directory) throws Exception {
        try (GroupReplication group = GroupReplication.start()) {
            group.generatePrimaryKeys();
            List<String> urls = IntStream.range(0, group.size())
                    .mapToObj(node -> group.schema(node).jdbcUrl())
                    .toList();
            Schema first = group.schema(0);
            Report report = run(
                    new RemoteServer(urls, first.username(), first.password()),
                    "--seconds=25",
                    "--pace=0.5",
                    "--clients=" + group.size(),
                    "--threads=6",
                    "--cuts=0.05",
                    "--tolerance=20",
                    "--attacks=client-killed,client-frozen,answers-delayed,network-silent",
                    "--output=" + directory);

            assertThat(report.markdown()).as("report").contains("Passed.");
            assertThat(report.isPassed()).isTrue();
            assertThat(report.figures().count(Event.Kind.KILLED))
                    .as("killed clients")
                    .isPositive();
            assertThat(report.commits()).as("replayed commits").isPositive();
        }
    }

    private static Report run(DatabaseServer server, String... options) throws Exception {
        return new FaultRun(Options.parse(options), server, System.out, Map.of()).run();
    }
}
