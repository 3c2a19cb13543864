package io.dbsemaphore.boot.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.awaitility.Awaitility.await;

import com.example.orders.OrdersApplication;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.boot.autoconfigure.Hosts;
import io.dbsemaphore.spi.SemaphoreListener;
import jakarta.servlet.Filter;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;

/**
 * Beans that acquire permits while they are created. The thread that creates a bean holds a lock of Spring, so a thread of the
 * library that looked up a bean would wait for it, and it for that thread.
 */
@Timeout(value = 120, threadMode = Timeout.ThreadMode.SEPARATE_THREAD)
class AcquireDuringCreationTests {

    private static final String ONE_PERMIT = "semaphore.semaphores.orders.capacity=1";

    /** Its own acquire would be told to the listener, too. */
    private static final String NO_MAINTENANCE = "semaphore.maintenance.enabled=false";

    @ParameterizedTest
    @ValueSource(classes = {WithListener.class, WithDependentListener.class})
    void aBeanAcquires(Class<?> configuration) {
        try (ConfigurableApplicationContext host = Hosts.orders(configuration, ONE_PERMIT, NO_MAINTENANCE)) {
            assertThatAllSucceeded(host);
        }
    }

    @Test
    void aLazyBeanAcquires() {
        try (ConfigurableApplicationContext host =
                Hosts.orders(WithListener.class, ONE_PERMIT, NO_MAINTENANCE, "spring.main.lazy-initialization=true")) {
            assertThatAllSucceeded(host);
        }
    }

    /** Which the web server creates, before all other beans. */
    @Test
    void aBeanOfAFilterAcquires() {
        try (ConfigurableApplicationContext host = Hosts.application(
                        OrdersApplication.class,
                        Hosts.ORDERS_CHANGELOG,
                        WithListener.class,
                        WithFilter.class,
                        ONE_PERMIT,
                        NO_MAINTENANCE,
                        "server.port=0")
                .web(WebApplicationType.SERVLET)
                .run()) {
            assertThatAllSucceeded(host);
        }
    }

    private static void assertThatAllSucceeded(ConfigurableApplicationContext host) {
        assertThat(host.getBean(EarlyUser.class).granted).isEqualTo(EarlyUser.ACQUIRES);
        List<String> told = host.getBean(Events.class).told;
        await().atMost(Duration.ofSeconds(60))
                .untilAsserted(() -> assertThat(told)
                        .as("which are kept until there are listeners")
                        .hasSize(EarlyUser.ACQUIRES + 2)
                        .last()
                        .isEqualTo("refused"));
    }

    /** Acquires several times, and waits in vain. */
    static final class EarlyUser {

        static final int ACQUIRES = 5;

        private int granted;

        EarlyUser(SemaphoreTemplate semaphores) {
            AcquireRequest order = AcquireRequest.of("orders");
            for (int i = 0; i < ACQUIRES; i++) {
                semaphores.executeWithoutResult(order, grant -> granted++);
            }
            semaphores.executeWithoutResult(
                    order,
                    held -> assertThat(semaphores.tryAcquire(order.withWaitTime(Duration.ofMillis(100))))
                            .isEmpty());
        }
    }

    static final class Events implements SemaphoreListener {

        private final List<String> told = new CopyOnWriteArrayList<>();

        @Override
        public void acquired(Acquired event) {
            told.add("acquired");
        }

        @Override
        public void refused(Refused event) {
            told.add("refused");
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WithUser {

        @Bean
        EarlyUser earlyUser(SemaphoreTemplate semaphores) {
            return new EarlyUser(semaphores);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WithListener extends WithUser {

        @Bean
        Events events() {
            return new Events();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WithDependentListener extends WithUser {

        @Bean
        Events events(EarlyUser unused) {
            return new Events();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WithFilter {

        @Bean
        Filter filter(EarlyUser unused) {
            return (request, response, chain) -> chain.doFilter(request, response);
        }
    }
}
