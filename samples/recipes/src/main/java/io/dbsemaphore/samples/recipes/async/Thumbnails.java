package io.dbsemaphore.samples.recipes.async;

import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.samples.recipes.Work;
import org.springframework.scheduling.annotation.Async;
import org.springframework.stereotype.Service;

/** Callers go on at once; the thread of the work waits. */
@Service
class Thumbnails {

    private final Work work;

    Thumbnails(Work work) {
        this.work = work;
    }

    @Async
    @WithPermits(names = "thumbnails", waitTime = "10m")
    public void create(String image) {
        work.run(image);
    }
}
