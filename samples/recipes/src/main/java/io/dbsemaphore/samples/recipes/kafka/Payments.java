package io.dbsemaphore.samples.recipes.kafka;

import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.samples.recipes.Work;
import org.springframework.kafka.annotation.KafkaListener;
import org.springframework.stereotype.Component;

/** Two consumers in each instance, of which three in all work at a time. */
@Component
class Payments {

    private final Work work;

    Payments(Work work) {
        this.work = work;
    }

    @KafkaListener(topics = "payments", concurrency = "2")
    @WithPermits(names = "payments", waitTime = "${payments.wait:1m}")
    public void receive(String payment) {
        work.run(payment);
    }
}
