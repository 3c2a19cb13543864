package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitManager.AcquireResult;
import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.config.SemaphorePatterns;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.support.ListenerNotifier;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.Future;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** Asynchronous acquires where the threads for their completions cannot be created, whatever that throws. */
@Slow
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class UnstartableCompletionsIntegrationTests {

    /** Less than a stop waits for acquires in progress. */
    private static final Duration QUICK = Duration.ofSeconds(5);

    private static final DaemonThreads THREADS = new DaemonThreads() {
        @Override
        public Thread create(String name, Runnable task) {
            if (name.startsWith("semaphore-completion")) {
                throw new IllegalStateException("no thread");
            }
            return super.create(name, task);
        }
    };

    @Test
    void areCompletedAndLeaveTheGate() throws Exception {
        SemaphoreSettings settings = TestSettings.defaults();
        try (Schema schema = TestDatabase.create().migrate()) {
            EngineRuns runs = new EngineRuns(
                    new EngineRun.Configuration(
                            settings, SemaphorePatterns.NONE, new ListenerNotifier(List::of), List::of, THREADS),
                    () -> EngineDatabase.open(schema.newPool(4), settings, script -> {}, Duration.ZERO),
                    admin -> admin.create("s", 1));
            runs.open();
            try {
                Future<AcquireResult> granted = runs.permitManager().acquireAsync(AcquireRequest.of("s"));
                assertThat(Concurrently.get(granted, QUICK)).isInstanceOf(AcquireResult.Granted.class);
                Future<AcquireResult> refused = runs.permitManager().acquireAsync(AcquireRequest.of("s"));
                assertThat(Concurrently.get(refused, QUICK)).isInstanceOf(AcquireResult.Unavailable.class);
            } finally {
                Future<Boolean> close = Concurrently.async(() -> {
                    runs.close();
                    return true;
                });
                assertThat(Concurrently.get(close, QUICK)).as("closed").isTrue();
            }
        }
    }
}
