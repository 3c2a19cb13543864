package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.FakeClock;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.node.Node;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;

/** Processes whose callers wait with shares (see {@link ShareCallersProcess}), on a database that is dropped with them. */
final class ShareProcesses implements AutoCloseable {

    private static final Duration START = Duration.ofSeconds(60);

    private final Schema schema;
    private final Node node;
    private final List<ChildJvm> started = new ArrayList<>();

    ShareProcesses() {
        schema = TestDatabase.createForProcesses().migrate();
        node = Node.on(schema, ShareCallersProcess.settings());
    }

    Schema schema() {
        return schema;
    }

    /** The instance of this process. */
    Node node() {
        return node;
    }

    /** Starts so many processes. */
    List<ChildJvm> start(int count) {
        List<ChildJvm> processes = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            processes.add(add(ChildJvm.start(ShareCallersProcess.class, schema.handOver())));
        }
        processes.forEach(ShareProcesses::awaitReady);
        return processes;
    }

    /** Starts a process for each of these clocks, which are ahead of that of this one. */
    List<ChildJvm> start(Duration... ahead) {
        List<ChildJvm> processes = Stream.of(ahead)
                .map(each -> add(ChildJvm.startWithEnvironment(
                        FakeClock.environment(each), ShareCallersProcess.class, schema.handOver())))
                .toList();
        for (int i = 0; i < ahead.length; i++) {
            long clock = awaitReady(processes.get(i));
            assertThat(Duration.ofMillis(clock - System.currentTimeMillis()))
                    .as("the clock of the process")
                    .isCloseTo(ahead[i], START);
        }
        return processes;
    }

    private ChildJvm add(ChildJvm process) {
        started.add(process);
        return process;
    }

    /** Returns its clock. */
    private static long awaitReady(ChildJvm process) {
        return Long.parseLong(process.awaitLine("READY", START).split(" ")[1]);
    }

    @Override
    public void close() {
        started.forEach(ChildJvm::close);
        node.close();
        schema.close();
    }
}
