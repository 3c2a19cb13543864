package io.dbsemaphore.samples.recipes.jms;

import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.samples.recipes.Work;
import org.springframework.jms.annotation.JmsListener;
import org.springframework.stereotype.Component;

/** Two consumers in each instance, of which three in all work at a time. */
@Component
class Orders {

    private final Work work;

    Orders(Work work) {
        this.work = work;
    }

    @JmsListener(destination = "orders", concurrency = "2")
    @WithPermits(names = "orders", waitTime = "${orders.wait:1m}")
    public void receive(String order) {
        work.run(order);
    }
}
