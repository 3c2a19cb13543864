package io.dbsemaphore.boot.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.Permits;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import io.dbsemaphore.boot.autoconfigure.SemaphoreFallbackAutoConfiguration;
import io.dbsemaphore.boot.metrics.SemaphoreMetricsAutoConfiguration;
import io.dbsemaphore.boot.metrics.SemaphoreObservationAutoConfiguration;
import io.dbsemaphore.spi.SemaphoreListener;
import io.micrometer.core.instrument.MeterRegistry;
import io.micrometer.core.instrument.simple.SimpleMeterRegistry;
import io.micrometer.observation.ObservationRegistry;
import java.util.function.Consumer;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Import;
import org.springframework.context.event.ContextRefreshedEvent;
import org.springframework.context.event.EventListener;

/** A context that uses the semaphores of its parent, with the same auto-configurations. */
@ExtendWith(OutputCaptureExtension.class)
class ChildContextTests {

    private ConfigurableApplicationContext parent;

    @BeforeEach
    void start() {
        parent = new SpringApplicationBuilder(Semaphores.class)
                .web(WebApplicationType.NONE)
                .properties(
                        "spring.main.banner-mode=off",
                        "semaphore.semaphores.orders.capacity=1",
                        "semaphore.patterns.[parent-*].capacity=1")
                .run();
    }

    @AfterEach
    void close() {
        parent.close();
    }

    private ConfigurableApplicationContext startChild(Class<?>... sources) {
        return new SpringApplicationBuilder(sources)
                .web(WebApplicationType.NONE)
                .properties("semaphore.semaphores.invoices.capacity=2")
                .parent(parent)
                .run();
    }

    @Test
    void countsWhereItsParentDoesNot() {
        try (ConfigurableApplicationContext uncounted = new SpringApplicationBuilder(Semaphores.class)
                        .web(WebApplicationType.NONE)
                        .properties("semaphore.enabled=false")
                        .run();
                ConfigurableApplicationContext child = new SpringApplicationBuilder(Semaphores.class, Guarded.class)
                        .web(WebApplicationType.NONE)
                        .properties("semaphore.enabled=true", "semaphore.semaphores.orders.capacity=1")
                        .parent(uncounted)
                        .run()) {
            SemaphoreTemplate template = child.getBean(SemaphoreTemplate.class);
            try (PermitGrant grant = template.acquire(AcquireRequest.of("orders"))) {
                assertThat(grant.isHeld()).isTrue();
                assertThat(template.tryAcquire(AcquireRequest.of("orders"))).isEmpty();
                assertThatExceptionOfType(PermitsUnavailableException.class)
                        .isThrownBy(() -> child.getBean(Guarded.class).permits());
            }
            assertThat(child.getBean(SemaphoreAdmin.class).find("orders")).isPresent();
            assertThat(child.getBean(SemaphoreMaintenance.class))
                    .isNotSameAs(uncounted.getBean(SemaphoreMaintenance.class));
        }
    }

    @Test
    void isMeasuredByItsParent() {
        try (ConfigurableApplicationContext measured =
                        start(null, Meters.class, "semaphore.semaphores.orders.capacity=1");
                ConfigurableApplicationContext child =
                        start(measured, Observed.class, "semaphore.semaphores.invoices.capacity=2")) {
            child.getBean(SemaphoreTemplate.class).run("invoices", () -> {});

            MeterRegistry registry = measured.getBean(MeterRegistry.class);
            assertThat(registry.get("semaphore.acquire")
                            .tags("semaphore", "other", "outcome", "granted")
                            .timer()
                            .count())
                    .isEqualTo(1);
            assertThat(registry.find("semaphore.acquire")
                            .tag("semaphore", "invoices")
                            .timers())
                    .as("never fed")
                    .isEmpty();
            assertThat(child.getBeansOfType(SemaphoreListener.class)).isEmpty();
        }
    }

    @Test
    void isMeasuredInTheRegistryOfItsParentWhereItHasAnEngineOfItsOwn() {
        try (ConfigurableApplicationContext uncounted = start(null, Meters.class, "semaphore.enabled=false");
                ConfigurableApplicationContext child = start(
                        uncounted,
                        Observed.class,
                        "semaphore.enabled=true",
                        "semaphore.semaphores.orders.capacity=1")) {
            child.getBean(SemaphoreTemplate.class).run("orders", () -> {});

            assertThat(uncounted
                            .getBean(MeterRegistry.class)
                            .get("semaphore.acquire")
                            .tags("semaphore", "orders", "outcome", "granted")
                            .timer()
                            .count())
                    .isEqualTo(1);
        }
    }

    private static ConfigurableApplicationContext start(
            @Nullable ConfigurableApplicationContext parent, Class<?> source, String... properties) {
        SpringApplicationBuilder application = new SpringApplicationBuilder(Semaphores.class, source)
                .web(WebApplicationType.NONE)
                .properties(properties);
        return (parent == null ? application : application.parent(parent)).run();
    }

    /** By the auto proxy creator of AspectJ, and by that of Spring, which takes the advisors of its own context only. */
    @ParameterizedTest
    @ValueSource(strings = {"true", "false"})
    void isGuarded(String withAspectJ) {
        try (ConfigurableApplicationContext child = new SpringApplicationBuilder(Semaphores.class, Guarded.class)
                .web(WebApplicationType.NONE)
                .properties("spring.aop.auto=" + withAspectJ)
                .parent(parent)
                .run()) {
            assertThat(child.getBean(Guarded.class).permits()).isEqualTo(1);
        }
    }

    @Test
    void usesTheEngineOfItsParent() {
        try (ConfigurableApplicationContext child = startChild(Semaphores.class)) {
            assertThat(child.getBean(SemaphoreTemplate.class)).isSameAs(parent.getBean(SemaphoreTemplate.class));
            assertThat(parent.getBean(SemaphoreAdmin.class).find("invoices"))
                    .as("declared by the child")
                    .isPresent();
        }
        assertThatTheParentAcquires();
    }

    @Test
    void warnsOfItsPropertiesThatHaveNoEffect(CapturedOutput output) {
        String[] properties = {
            "semaphore.adapters.shedlock.enabled=true",
            "semaphore.semaphores.invoices.capacity=2",
            "semaphore.semaphores.bills.capacity=2",
            "semaphore.semaphores.bills.waitTime=20s",
            "semaphore.semaphores.bills.MAXHOLD=1h",
            "semaphore.semaphores.invoices.wait-time=20s",
            "semaphore.patterns.[tenant-*].capacity=2",
            "semaphore.patterns.[parent-*].capacity=1"
        };
        try (ConfigurableApplicationContext child = new SpringApplicationBuilder(Semaphores.class)
                .web(WebApplicationType.NONE)
                .properties(properties)
                .parent(parent)
                .run()) {
            assertThat(child.isActive()).isTrue();
            assertThat(output)
                    .contains(
                            "[semaphore.adapters.shedlock.enabled, semaphore.patterns.[tenant-*].capacity, semaphore.semaphores.bills.MAXHOLD, semaphore.semaphores.bills.waitTime, semaphore.semaphores.invoices.wait-time] have no effect");
        }
    }

    @Test
    void warnsOfNothingIfItHasNoSuchProperties(CapturedOutput output) {
        startChild(Semaphores.class).close();

        assertThat(output).doesNotContain("have no effect");
    }

    @Test
    void doesNotStopTheSemaphoresOfItsParent() {
        try (ConfigurableApplicationContext child = startChild(Semaphores.class)) {
            Consumer<Runnable> stopsAndStarts = stop -> {
                stop.run();
                assertThatTheParentAcquires();
            };
            stopsAndStarts.accept(child::stop);
            stopsAndStarts.accept(child::start);
            stopsAndStarts.accept(child::pause);
            stopsAndStarts.accept(child::restart);
        }
    }

    @Test
    void doesNotStopThemByItsFailure() {
        assertThatExceptionOfType(IllegalStateException.class)
                .isThrownBy(() -> startChild(Semaphores.class, Failing.class))
                .withMessage("too late");

        assertThatTheParentAcquires();
    }

    @Test
    void resumesAfterItsParent() {
        try (ConfigurableApplicationContext child = startChild(Semaphores.class)) {
            child.pause();
            parent.pause();
            parent.restart();
            child.restart();

            assertThatTheParentAcquires();
        }
    }

    private void assertThatTheParentAcquires() {
        boolean held =
                parent.getBean(SemaphoreTemplate.class).execute(AcquireRequest.of("orders"), grant -> grant.isHeld());
        assertThat(held).as("held").isEqualTo(true);
    }

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({
        AopAutoConfiguration.class,
        DataSourceAutoConfiguration.class,
        SemaphoreAutoConfiguration.class,
        SemaphoreFallbackAutoConfiguration.class
    })
    static class Semaphores {}

    @Configuration(proxyBeanMethods = false)
    @ImportAutoConfiguration({SemaphoreMetricsAutoConfiguration.class, SemaphoreObservationAutoConfiguration.class})
    static class Observed {}

    @Configuration(proxyBeanMethods = false)
    @Import(Observed.class)
    static class Meters {

        @Bean
        MeterRegistry meters() {
            return new SimpleMeterRegistry();
        }

        @Bean
        ObservationRegistry observations() {
            return ObservationRegistry.create();
        }
    }

    static class Guarded {

        @WithPermits("orders")
        int permits() {
            return Permits.find().map(grant -> grant.permits().size()).orElse(0);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Failing {

        /** When all lifecycle beans have been started. */
        @EventListener
        void onRefreshed(ContextRefreshedEvent refreshed) {
            throw new IllegalStateException("too late");
        }
    }
}
