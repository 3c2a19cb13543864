package io.dbsemaphore.engine.batch;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.concurrent.DaemonThreads;
import io.dbsemaphore.concurrent.Deadline;
import java.time.Duration;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.Executor;
import java.util.concurrent.ScheduledThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.AtomicBoolean;
import org.junit.jupiter.api.Test;

class BackgroundReleaserTests {

    @Test
    void triesAgainIfThereWasNoThread() throws InterruptedException {
        ScheduledThreadPoolExecutor scheduler = new DaemonThreads().scheduler("test-scheduler");
        AtomicBoolean exhausted = new AtomicBoolean(true);
        Executor database = task -> {
            if (exhausted.getAndSet(false)) {
                throw new OutOfMemoryError("no native thread");
            }
            task.run();
        };
        CountDownLatch tried = new CountDownLatch(1);
        try (BackgroundReleaser releaser = new BackgroundReleaser(null, scheduler, database)) { // nothing is undone
            boolean accepted = releaser.release(
                    "id",
                    () -> {
                        tried.countDown();
                        return CompletableFuture.completedFuture(true);
                    },
                    Deadline.in(Duration.ofMinutes(1)));

            assertThat(accepted).isTrue();
            assertThat(tried.await(10, TimeUnit.SECONDS)).as("tried again").isTrue();
        } finally {
            scheduler.shutdownNow();
        }
    }
}
