package io.dbsemaphore.samples.recipes.async;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.samples.recipes.Instances;
import io.dbsemaphore.samples.recipes.SharedInstances;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.EnabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.extension.ExtendWith;

class AsyncRecipeIntegrationTests {

    private static final int IMAGES = 10;

    /** Two threads in each instance: the fourth one waits, and further images are in the queues of the executors. */
    @Test
    @ExtendWith(SharedInstances.class)
    void platformThreadsWaitForPermits(Instances instances) {
        createsThreeAtATime(instances, 1);
    }

    /** Each image has a thread. */
    @Test
    @EnabledForJreRange(min = JRE.JAVA_21, disabledReason = "Virtual threads need Java 21")
    void virtualThreadsWaitForPermits() {
        try (Instances instances = Instances.of("async")) {
            createsThreeAtATime(instances, IMAGES - 3);
        }
    }

    private static void createsThreeAtATime(Instances instances, int waiting) {
        CountedWork work = instances.work();
        for (int i = 0; i < IMAGES; i++) {
            instances.bean(i % 2, Thumbnails.class).create("image:" + i);
        }

        work.awaitFull("image", 3, () -> instances.waiting("thumbnails") == waiting);
        work.end("image");
        work.awaitDone("image", IMAGES);
        assertThat(work.peak("image")).isEqualTo(3);
    }
}
