package io.dbsemaphore.samples.recipes.rabbit;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.samples.recipes.Instances;
import io.dbsemaphore.testing.Slow;
import java.nio.file.Path;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.condition.DisabledForJreRange;
import org.junit.jupiter.api.condition.JRE;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.amqp.rabbit.core.RabbitTemplate;

/** Neither of the instances alone has the consumers for three shipments at a time. */
@Slow
class RabbitRecipeIntegrationTests {

    private static final int SHIPMENTS = 7;

    @TempDir
    Path directory;

    private Broker broker;

    @BeforeEach
    void startBroker() throws Exception {
        broker = Broker.start(directory);
    }

    @AfterEach
    void stopBroker() {
        broker.close();
    }

    @Test
    @DisabledForJreRange(min = JRE.JAVA_24, disabledReason = "This version of the broker uses what Java 24 has removed")
    void takesThreeShipmentsAndLeavesTheOthersInTheQueue() {
        try (Instances instances =
                Instances.of("rabbit", "shipments.wait=1s", "spring.rabbitmq.port=" + broker.port())) {
            CountedWork work = instances.work();
            RabbitTemplate rabbit = instances.bean(0, RabbitTemplate.class);
            for (int i = 0; i < SHIPMENTS; i++) {
                rabbit.convertAndSend("shipments", "shipment:" + i);
            }

            work.awaitFull(
                    "shipment", 3, () -> instances.waiting("shipments") == 1 && broker.waiting("shipments") == 3);
            int refused = instances.refused();
            work.awaitFull("shipment", 3, () -> instances.refused() > refused); // and delivered again
            work.end("shipment");
            work.awaitDone("shipment", SHIPMENTS);
            assertThat(work.done("shipment")).doesNotHaveDuplicates();
            assertThat(work.peak("shipment")).isEqualTo(3);
        }
    }
}
