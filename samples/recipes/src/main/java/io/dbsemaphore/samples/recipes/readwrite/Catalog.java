package io.dbsemaphore.samples.recipes.readwrite;

import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.samples.recipes.Work;
import org.springframework.stereotype.Service;

/** A reader has one permit, a writer has all of them. */
@Service
class Catalog {

    private final Work work;

    Catalog(Work work) {
        this.work = work;
    }

    @WithPermits(names = "catalog", waitTime = "1m")
    public void read(String article) {
        work.run(article);
    }

    @WithPermits(names = "catalog", exclusive = true, waitTime = "10m")
    public void rebuild() {
        work.run("rebuild");
    }
}
