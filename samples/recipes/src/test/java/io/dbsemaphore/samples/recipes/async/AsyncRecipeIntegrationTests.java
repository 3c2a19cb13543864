package io.dbsemaphore.samples.recipes.async;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.samples.recipes.Instances;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;

class AsyncRecipeIntegrationTests {

    private static final int IMAGES = 10;

    /** Two threads in each instance: the fourth one waits, and further images are in the queues of the executors. */
    @Test
    void platformThreadsWaitForPermits() {
        createsThreeAtATime(1, "spring.threads.virtual.enabled=false", "spring.task.execution.pool.core-size=2");
    }

    /** Each image has a thread. */
    @Test
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "Virtual threads need Java 21")
    void virtualThreadsWaitForPermits() {
        createsThreeAtATime(IMAGES - 3);
    }

    private static void createsThreeAtATime(int waiting, String... properties) {
        try (Instances instances = Instances.of("async", properties)) {
            CountedWork work = instances.work();
            for (int i = 0; i < IMAGES; i++) {
                instances.bean(i % 2, Thumbnails.class).create("image:" + i);
            }

            await().atMost(Instances.SOON)
                    .until(() -> work.underWay("image") == 3 && instances.waiting("thumbnails") == waiting);
            assertThat(work.underWay("image")).isEqualTo(3);
            work.end("image");
            await().atMost(Instances.SOON).until(() -> work.done("image").size() == IMAGES);
            assertThat(work.peak("image")).isEqualTo(3);
        }
    }
}
