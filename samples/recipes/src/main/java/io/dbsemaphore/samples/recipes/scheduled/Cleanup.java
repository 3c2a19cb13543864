package io.dbsemaphore.samples.recipes.scheduled;

import io.dbsemaphore.annotation.OnUnavailable;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.samples.recipes.Work;
import org.springframework.scheduling.annotation.Scheduled;
import org.springframework.stereotype.Component;

/** Each instance has the schedule, and one at a time does the work. */
@Component
class Cleanup {

    private final Work work;

    Cleanup(Work work) {
        this.work = work;
    }

    @Scheduled(fixedDelayString = "${cleanup.delay:1m}")
    @WithPermits(names = "cleanup", onUnavailable = OnUnavailable.SKIP)
    public void cleanUp() {
        work.run("cleanup");
    }
}
