package io.dbsemaphore.samples.recipes.noisyneighbour;

import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.samples.recipes.Work;
import org.springframework.stereotype.Service;

/** A tenant may use the whole pool, until others wait. */
@Service
class Documents {

    private final Work work;

    Documents(Work work) {
        this.work = work;
    }

    @WithPermits(names = "documents", share = "#{#tenant}", waitTime = "10m")
    public void print(String tenant, String document) {
        work.run(tenant + "/" + document);
    }
}
