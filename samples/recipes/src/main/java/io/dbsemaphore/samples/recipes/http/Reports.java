package io.dbsemaphore.samples.recipes.http;

import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.samples.recipes.Work;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;

/** A request without a permit is refused at once. */
@RestController
class Reports {

    private final Work work;

    Reports(Work work) {
        this.work = work;
    }

    @PostMapping("/reports/{name}")
    @WithPermits("reports")
    public String create(@PathVariable String name) {
        work.run(name);
        return "created";
    }
}
