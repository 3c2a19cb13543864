package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CancellationException;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.Future;
import java.util.concurrent.RejectedExecutionException;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** A task that an engine runs at an interval. */
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class RepeatedTaskIntegrationTests {

    private static final Duration INTERVAL = Duration.ofHours(1);

    @Test
    void runsAtOnceWhileTheEngineRunsAndIsRejectedOtherwise() throws Exception {
        CompletableFuture<Void> mayStart = new CompletableFuture<>();
        try (Schema schema = TestDatabase.create().migrate();
                SemaphoreEngine engine = SemaphoreEngine.inBackground(
                        schema.newPool(6),
                        TestSettings.defaults(),
                        List::of,
                        List::of,
                        List::of,
                        () -> null,
                        script -> mayStart.join(),
                        Duration.ZERO,
                        admin -> {})) {
            assertRejects(engine);
            mayStart.complete(null);
            engine.start();
            for (int run = 0; run < 2; run++) {
                CompletableFuture<String> ranOn = new CompletableFuture<>();

                Future<?> runs = engine.every(
                        INTERVAL, () -> ranOn.complete(Thread.currentThread().getName()));

                assertThat(ranOn.get(10, TimeUnit.SECONDS)).startsWith("semaphore-application-");
                assertThat(runs.isDone()).isFalse();
                engine.shutDown();
                // the timer may still be about to plan the next run, and cancels it then
                assertThatExceptionOfType(CancellationException.class).isThrownBy(() -> runs.get(10, TimeUnit.SECONDS));
                assertRejects(engine);
                engine.start();
            }
        }
    }

    private static void assertRejects(SemaphoreEngine engine) {
        assertThatExceptionOfType(RejectedExecutionException.class).isThrownBy(() -> engine.every(INTERVAL, () -> {}));
    }
}
