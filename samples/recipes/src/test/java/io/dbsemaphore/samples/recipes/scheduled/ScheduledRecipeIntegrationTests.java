package io.dbsemaphore.samples.recipes.scheduled;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.samples.recipes.Instances;
import org.junit.jupiter.api.Test;

class ScheduledRecipeIntegrationTests {

    @Test
    void oneInstanceCleansUpAndTheOtherSkips() {
        try (Instances instances = Instances.of("scheduled", "cleanup.delay=20ms")) {
            CountedWork work = instances.work();

            work.awaitFull("cleanup", 1, () -> instances.refused() >= 3);
            assertThat(work.done("cleanup")).isEmpty();
            work.end("cleanup");
            work.awaitDone("cleanup", 5);
            assertThat(work.peak("cleanup")).isEqualTo(1);
        }
    }
}
