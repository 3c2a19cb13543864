package io.dbsemaphore.samples.recipes.webflux;

import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.samples.recipes.Work;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.bind.annotation.PostMapping;
import org.springframework.web.bind.annotation.RestController;
import reactor.core.publisher.Mono;
import reactor.core.scheduler.Schedulers;

/** A subscription without a permit waits, and no thread with it. */
@RestController
class Exports {

    private final Work work;

    Exports(Work work) {
        this.work = work;
    }

    @PostMapping("/exports/{name}")
    @WithPermits(names = "exports", waitTime = "${exports.wait:5s}")
    public Mono<String> export(@PathVariable String name) {
        return Mono.fromRunnable(() -> work.run(name))
                .subscribeOn(Schedulers.boundedElastic())
                .thenReturn("exported");
    }
}
