package io.dbsemaphore.boot.integration;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreStatus;
import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import io.dbsemaphore.boot.autoconfigure.SemaphoreSettingsCustomizer;
import io.dbsemaphore.config.SemaphoreSettings;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import java.util.concurrent.locks.Lock;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.integration.config.EnableIntegration;
import org.springframework.integration.dsl.IntegrationFlow;
import org.springframework.integration.support.locks.DefaultLockRegistry;
import org.springframework.integration.support.locks.LockRegistry;

@ExtendWith(OutputCaptureExtension.class)
class LockRegistryAutoConfigurationTests {

    private static final String ENABLED = "semaphore.adapters.spring-integration.enabled=true";

    private final ApplicationContextRunner host = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DataSourceAutoConfiguration.class,
                    SemaphoreAutoConfiguration.class,
                    LockRegistryAutoConfiguration.class))
            .withPropertyValues("semaphore.liquibase.enabled=true", "spring.datasource.generate-unique-name=true");

    @Test
    void isOffUnlessAskedFor() {
        host.run(context -> {
            assertThat(context).hasSingleBean(SemaphoreTemplate.class).doesNotHaveBean(LockRegistry.class);
            assertThat(context.getBean(SemaphoreSettings.class).get(SemaphoreSettings.PATTERNS))
                    .isEmpty();
        });
    }

    @Test
    void makesLocksThatAreSemaphores(CapturedOutput log) {
        host.withPropertyValues(ENABLED).run(context -> {
            Lock lock = context.getBean(LockRegistry.class).obtain("orders");
            lock.lock();
            assertThat(context.getBean(SemaphoreAdmin.class).holders("integration:orders"))
                    .hasSize(1);
            lock.unlock();
        });
        assertThat(log).doesNotContain("has no effect");
    }

    @Test
    void locksTheGroupsOfAnAggregator() {
        host.withPropertyValues(ENABLED).withUserConfiguration(Orders.class).run(context -> {
            Orders orders = context.getBean(Orders.class);

            context.getBean(Sender.class).send("first");
            context.getBean(Sender.class).send("second");

            assertThat(orders.heldWhileAggregating).containsExactly(1L, 1L);
            assertThat(held(context.getBean(SemaphoreAdmin.class))).isEqualTo(0);
        });
    }

    private static long held(SemaphoreAdmin admin) {
        return admin.list().stream()
                .filter(status -> status.name().startsWith("integration:"))
                .mapToLong(SemaphoreStatus::held)
                .sum();
    }

    @Test
    void usesItsProperties() {
        host.withPropertyValues(
                        ENABLED,
                        "semaphore.adapters.spring-integration.prefix=locks/",
                        "semaphore.adapters.spring-integration.ttl=1h",
                        "semaphore.adapters.spring-integration.keep-alive=true",
                        "semaphore.adapters.spring-integration.cache-capacity=1")
                .run(context -> {
                    SemaphoreAdmin admin = context.getBean(SemaphoreAdmin.class);
                    LockRegistry<?> locks = context.getBean(LockRegistry.class);
                    locks.obtain("orders").lock();
                    assertThat(admin.holders("locks/orders")).hasSize(1).allSatisfy(holder -> {
                        assertThat(holder.expiresAt().orElseThrow())
                                .isAfter(admin.now().plusSeconds(3500));
                        assertThat(holder.instance()).as("that keeps it alive").isPresent();
                    });
                    locks.obtain("orders").unlock();

                    locks.obtain("invoices");

                    assertThat(admin.find("locks/orders")).isEmpty();
                });
    }

    @Test
    void leavesThePatternOfTheApplicationAsItIs() {
        host.withPropertyValues(
                        ENABLED,
                        "semaphore.adapters.spring-integration.prefix=locks/",
                        "semaphore.patterns.[locks/*].capacity=3")
                .run(context -> assertThat(
                                context.getBean(SemaphoreSettings.class).patternOf("locks/orders"))
                        .contains(Map.entry("locks/*", 3)));
    }

    @Test
    void backsOffWhereTheApplicationHasALockRegistry(CapturedOutput log) {
        host.withPropertyValues(ENABLED)
                .withUserConfiguration(OwnLockRegistry.class)
                .run(context -> {
                    assertThat(context)
                            .hasSingleBean(LockRegistry.class)
                            .doesNotHaveBean(SemaphoreSettingsCustomizer.class);
                    assertThat(context.getBean(LockRegistry.class)).isInstanceOf(DefaultLockRegistry.class);
                });
        assertThat(log).contains("semaphore.adapters.spring-integration.enabled=true has no effect");
    }

    @Test
    void isNotThereWithoutSemaphores() {
        host.withPropertyValues(ENABLED, "semaphore.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockRegistry.class));
    }

    @Test
    void needsSpringIntegration() {
        host.withPropertyValues(ENABLED)
                .withClassLoader(new FilteredClassLoader("org.springframework.integration"))
                .run(context -> assertThat(context)
                        .hasSingleBean(SemaphoreTemplate.class)
                        .doesNotHaveBean(LockRegistryAutoConfiguration.class));
    }

    @ParameterizedTest
    @CsvSource({
        "prefix=, prefix",
        "prefix=locks*, prefix",
        "ttl=10ms, semaphore.adapters.spring-integration.ttl must be at least PT1S: PT0.01S",
        "ttl=31d, semaphore.adapters.spring-integration.ttl must be at most PT720H (semaphore.max-ttl)",
        "cache-capacity=0, semaphore.adapters.spring-integration.cache-capacity"
    })
    void doesNotStartWithAValueThatCannotWork(String property, String problem) {
        host.withPropertyValues(ENABLED, "semaphore.adapters.spring-integration." + property)
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("semaphore.adapters.spring-integration")
                        .rootCause()
                        .hasMessageContaining(problem));
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnLockRegistry {

        @Bean
        LockRegistry<?> ownLockRegistry() {
            return new DefaultLockRegistry();
        }
    }

    interface Sender {

        void send(String payload);
    }

    @Configuration(proxyBeanMethods = false)
    @EnableIntegration
    static class Orders {

        private final List<Long> heldWhileAggregating = new CopyOnWriteArrayList<>();

        @Bean
        IntegrationFlow orders(LockRegistry<?> locks, SemaphoreAdmin admin) {
            return IntegrationFlow.from(Sender.class)
                    .aggregate(aggregator -> aggregator
                            .lockRegistry(locks)
                            .correlationExpression("'all'")
                            .releaseStrategy(group -> {
                                heldWhileAggregating.add(held(admin));
                                return group.size() == 2;
                            }))
                    .nullChannel();
        }
    }
}
