package io.dbsemaphore.engine.fairness;

import static org.assertj.core.api.Assertions.assertThat;
import static org.junit.jupiter.api.Assumptions.assumeTrue;

import io.dbsemaphore.testing.ChildJvm;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.measurement.Measured;
import io.dbsemaphore.testing.measurement.Measurement;
import io.dbsemaphore.testing.rerun.Promise;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A process is frozen while the first caller of all shares waits there. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@Slow
@Measured
@Promise
@Timeout(value = 240, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class ShareFrozenProcessIntegrationTests {

    /** 1.5 seconds are promised; the rest is for a loaded machine. */
    private static final Duration PROMISED = Duration.ofMillis(2_500);

    @Test
    void aFrozenProcessDelaysTheOthersBrieflyAndKeepsItsPlaces() {
        assumeTrue(Files.isDirectory(Path.of("/proc/self/task")), "only on Linux");
        try (ShareProcesses started = new ShareProcesses()) {
            List<ChildJvm> processes = started.start(3);
            ChildJvm frozen = processes.get(2);
            ProcessCallers line = new ProcessCallers(started, processes, 2);
            line.join("a b5 c3 b5 b5 c3 a a c3 ".repeat(3)).join(9, "b5");
            line.serve(3);
            while (!line.isNext(frozen)) {
                line.serve(1);
            }

            line.awaitWaiting();
            frozen.stop();
            List<?> waiting = line.forget(frozen);
            long begun = System.nanoTime();
            line.serve(1);
            Duration delay = Duration.ofNanos(System.nanoTime() - begun);
            line.serve(5);
            frozen.cont();
            line.remember(frozen, waiting);
            line.awaitWaiting();
            line.end();

            assertThat(line.served()).hasSize(36);
            assertThat(waiting).isNotEmpty();
            line.assertByTheRules();
            Measurement.check(() ->
                    assertThat(delay).as("delay by a process that was frozen").isLessThan(PROMISED));
        }
    }
}
