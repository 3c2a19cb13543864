package io.dbsemaphore.samples.recipes.jms;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.samples.recipes.CountedWork;
import io.dbsemaphore.samples.recipes.Instances;
import io.dbsemaphore.testing.Slow;
import org.apache.activemq.artemis.core.config.impl.ConfigurationImpl;
import org.apache.activemq.artemis.core.server.Queue;
import org.apache.activemq.artemis.core.server.embedded.EmbeddedActiveMQ;
import org.apache.activemq.artemis.core.settings.impl.AddressSettings;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.jms.core.JmsTemplate;

/** Neither of the instances alone has the consumers for three orders at a time. */
@Slow
class JmsRecipeIntegrationTests {

    private static final int ORDERS = 7;

    private final EmbeddedActiveMQ broker = new EmbeddedActiveMQ();

    @BeforeEach
    void startBroker() throws Exception {
        broker.setConfiguration(new ConfigurationImpl()
                .setPersistenceEnabled(false)
                .setSecurityEnabled(false)
                .addAddressSetting("#", new AddressSettings().setMaxDeliveryAttempts(-1))
                .addAcceptorConfiguration("vm", "vm://0"));
        broker.start();
    }

    @AfterEach
    void stopBroker() throws Exception {
        broker.stop();
    }

    @Test
    void takesThreeOrdersAndLeavesTheOthersInTheQueue() {
        try (Instances instances =
                Instances.of("jms", "orders.wait=1s", "spring.artemis.broker-url=vm://0?consumerWindowSize=0")) {
            CountedWork work = instances.work();
            JmsTemplate jms = instances.bean(0, JmsTemplate.class);
            for (int i = 0; i < ORDERS; i++) {
                jms.convertAndSend("orders", "order:" + i);
            }

            Queue queue = broker.getActiveMQServer().locateQueue("orders");
            work.awaitFull("order", 3, () -> instances.waiting("orders") == 1 && queue.getDeliveringCount() == 4);
            int refused = instances.refused();
            work.awaitFull("order", 3, () -> instances.refused() > refused); // and delivered again
            work.end("order");
            work.awaitDone("order", ORDERS);
            assertThat(work.done("order")).doesNotHaveDuplicates();
            assertThat(work.peak("order")).isEqualTo(3);
        }
    }
}
