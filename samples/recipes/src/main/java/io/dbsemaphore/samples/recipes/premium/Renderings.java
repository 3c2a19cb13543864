package io.dbsemaphore.samples.recipes.premium;

import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.samples.recipes.Work;
import org.springframework.stereotype.Service;

/** Plans share by their weights, and the customers of a plan equally. */
@Service
class Renderings {

    private final Work work;

    Renderings(Work work) {
        this.work = work;
    }

    @WithPermits(names = "renderings", share = "#{#plan}/#{#customer}", waitTime = "10m")
    public void render(String plan, String customer) {
        work.run(plan + "/" + customer);
    }
}
