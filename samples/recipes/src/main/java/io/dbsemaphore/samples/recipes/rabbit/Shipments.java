package io.dbsemaphore.samples.recipes.rabbit;

import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.samples.recipes.Work;
import org.springframework.amqp.rabbit.annotation.Queue;
import org.springframework.amqp.rabbit.annotation.RabbitListener;
import org.springframework.stereotype.Component;

/** Two consumers in each instance, of which three in all work at a time. */
@Component
class Shipments {

    private final Work work;

    Shipments(Work work) {
        this.work = work;
    }

    @RabbitListener(queuesToDeclare = @Queue("shipments"), concurrency = "2")
    @WithPermits(names = "shipments", waitTime = "${shipments.wait:1m}")
    public void receive(String shipment) {
        work.run(shipment);
    }
}
