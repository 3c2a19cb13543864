package io.dbsemaphore.operations;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestDatabase.Schema;
import io.dbsemaphore.testing.TestSettings;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import java.util.function.Consumer;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;

/** An engine that could not start, as where a declared semaphore cannot be created. */
@Slow
@Timeout(value = 60, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class FailedStartIntegrationTests {

    private static final Duration SOON = Duration.ofSeconds(20);

    @Test
    void leavesNoThreads() {
        leavesNoThreads(admin -> {
            throw new IllegalStateException("declared semaphores cannot be created");
        });
    }

    @Test
    void leavesNoThreadsIfItHasUsedTheDatabase() {
        leavesNoThreads(admin -> {
            admin.create("declared", 1);
            throw new IllegalStateException("another one of the declared semaphores cannot be created");
        });
    }

    private static void leavesNoThreads(Consumer<SemaphoreAdmin> onceOpen) {
        try (Schema schema = TestDatabase.create().migrate()) {
            Set<Thread> others = Thread.getAllStackTraces().keySet();
            try (SemaphoreEngine engine = SemaphoreEngine.inBackground(
                    schema.newPool(4),
                    TestSettings.defaults(),
                    List::of,
                    List::of,
                    List::of,
                    () -> null,
                    script -> {},
                    Duration.ZERO,
                    onceOpen)) {
                assertThatExceptionOfType(IllegalStateException.class)
                        .isThrownBy(engine::start)
                        .withMessageContaining("declared semaphores cannot be created");
            }

            await("the end of its threads").atMost(SOON).until(() -> newThreads(others), List::isEmpty);
        }
    }

    private static List<String> newThreads(Set<Thread> others) {
        return Thread.getAllStackTraces().keySet().stream()
                .filter(thread -> !others.contains(thread))
                .map(Thread::getName)
                .filter(name -> name.startsWith("semaphore-"))
                .toList();
    }
}
