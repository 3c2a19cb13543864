package io.dbsemaphore.engine;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestSettings;
import java.lang.management.ManagementFactory;
import java.util.Set;
import org.junit.jupiter.api.Test;

/** What one caller costs that is alone. */
class LoneCallerIntegrationTests {

    private static final int PAIRS = 200;

    @Test
    void doesNotWakeTheSchedulerForDeadlinesThatItDoesNotReach() {
        Set<Thread> others = Thread.getAllStackTraces().keySet();
        try (TestDatabase.Schema schema = TestDatabase.create().migrate();
                SemaphoreEngine engine = new SemaphoreEngine(schema.newPool(5), TestSettings.defaults())) {
            engine.start();
            engine.admin().create("backup", 1);
            SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
            semaphores.acquire(AcquireRequest.of("backup")).release();
            Thread scheduler = Thread.getAllStackTraces().keySet().stream()
                    .filter(thread ->
                            !others.contains(thread) && thread.getName().equals("semaphore-scheduler"))
                    .findFirst()
                    .orElseThrow();
            long before = waits(scheduler);
            long begun = System.nanoTime();

            for (int i = 0; i < PAIRS; i++) {
                semaphores.acquire(AcquireRequest.of("backup")).release();
            }

            long tenths = (System.nanoTime() - begun) / 100_000_000;
            assertThat(waits(scheduler) - before).isLessThan(PAIRS / 4 + 2 * tenths);
        }
    }

    private static long waits(Thread thread) {
        return ManagementFactory.getThreadMXBean().getThreadInfo(thread.getId()).getWaitedCount();
    }
}
