package io.dbsemaphore.samples.recipes.kafka;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.samples.recipes.Instances;
import io.dbsemaphore.testing.Slow;
import java.util.Collection;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.kafka.config.KafkaListenerEndpointRegistry;
import org.springframework.kafka.core.KafkaTemplate;
import org.springframework.kafka.listener.MessageListenerContainer;
import org.springframework.kafka.test.EmbeddedKafkaBroker;
import org.springframework.kafka.test.EmbeddedKafkaKraftBroker;

/** Neither of the instances alone has the consumers for three payments at a time. */
@Slow
class KafkaRecipeIntegrationTests {

    private static final int PARTITIONS = 4;
    private static final int PAYMENTS = 8;
    /** The attempts after which Spring for Apache Kafka skips a record by default. */
    private static final int ATTEMPTS = 10;

    private final EmbeddedKafkaBroker broker = new EmbeddedKafkaKraftBroker(1, PARTITIONS, "payments");

    @BeforeEach
    void startBroker() {
        broker.afterPropertiesSet();
    }

    @AfterEach
    void stopBroker() {
        broker.destroy();
    }

    @Test
    void takesThreePaymentsAndLeavesTheOthersInTheTopic() {
        try (Instances instances = Instances.of(
                "kafka", "payments.wait=200ms", "spring.kafka.bootstrap-servers=" + broker.getBrokersAsString())) {
            CountedWork work = instances.work();
            await().atMost(Instances.SOON).until(() -> partitions(instances, 0) == 2 && partitions(instances, 1) == 2);
            KafkaTemplate<String, String> kafka = kafka(instances);
            for (int i = 0; i < PAYMENTS; i++) {
                kafka.send("payments", i % PARTITIONS, null, "payment:" + i).join();
            }

            work.awaitFull("payment", 3, () -> instances.waiting("payments") == 1);
            int refused = instances.refused();
            work.awaitFull("payment", 3, () -> instances.refused() > refused + ATTEMPTS); // and tried again
            work.end("payment");
            work.awaitDone("payment", PAYMENTS);
            assertThat(work.done("payment")).doesNotHaveDuplicates();
            assertThat(work.peak("payment")).isEqualTo(3);
        }
    }

    private static int partitions(Instances instances, int instance) {
        return instances.bean(instance, KafkaListenerEndpointRegistry.class).getListenerContainers().stream()
                .map(MessageListenerContainer::getAssignedPartitions)
                .mapToInt(Collection::size)
                .sum();
    }

    @SuppressWarnings("unchecked")
    private static KafkaTemplate<String, String> kafka(Instances instances) {
        return instances.bean(0, KafkaTemplate.class);
    }
}
