package io.dbsemaphore.samples.recipes.httpexchange;

import io.dbsemaphore.annotation.WithPermits;
import org.springframework.web.bind.annotation.PathVariable;
import org.springframework.web.service.annotation.GetExchange;
import org.springframework.web.service.annotation.HttpExchange;

/** A call has a permit until its response has been read. */
@HttpExchange("/stock")
@WithPermits(names = "warehouse", waitTime = "30s")
interface Warehouse {

    @GetExchange("/{article}")
    int stock(@PathVariable String article);
}
