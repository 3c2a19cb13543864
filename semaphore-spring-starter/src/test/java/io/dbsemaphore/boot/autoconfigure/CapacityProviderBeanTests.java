package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.CapacityUnknownException;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.spi.CapacityProvider;
import java.util.Map;
import java.util.OptionalInt;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.annotation.Order;

/** Beans that give capacities are found, and patterns create nothing before. */
class CapacityProviderBeanTests {

    private final ApplicationContextRunner host = Hosts.jdbc()
            .withInitializer(context -> TestPropertyValues.of(Map.of("semaphore.patterns.[tenant:*].capacity", "2"))
                    .applyTo(context));

    @Test
    void givesTheCapacityOfWhatAPatternCreates() {
        host.withUserConfiguration(Plans.class).run(context -> {
            assertThat(capacity(context, "tenant:gold")).isEqualTo(7);
            assertThat(capacity(context, "tenant:none")).isEqualTo(2);
        });
    }

    @Test
    void isFoundInTheOrderOfBeans() {
        host.withUserConfiguration(Plans.class, FirstPlans.class)
                .run(context -> assertThat(capacity(context, "tenant:gold")).isEqualTo(9));
    }

    @Test
    void isFoundWhereBeansAreLazy() {
        host.withUserConfiguration(Plans.class)
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .run(context -> assertThat(capacity(context, "tenant:gold")).isEqualTo(7));
    }

    @Test
    void mayDependOnTheSemaphores() {
        host.withUserConfiguration(DependentPlans.class)
                .run(context -> assertThat(capacity(context, "tenant:gold")).isEqualTo(3));
    }

    /** Rather than with the capacity of the pattern. */
    @Test
    void keepsPatternsFromCreatingBeforeItIsFound() {
        host.withUserConfiguration(EarlyUser.class, Plans.class).run(context -> {
            assertThat(context.getBean(EarlyUser.class).failure)
                    .isInstanceOf(CapacityUnknownException.class)
                    .hasMessageContaining("'tenant:gold'")
                    .hasMessageContaining("when all beans have been created");
            assertThat(capacity(context, "tenant:gold")).isEqualTo(7);
        });
    }

    @Test
    void letsPatternsCreateAtAnyTimeIfThereIsNone() {
        host.withUserConfiguration(EarlyUser.class).run(context -> {
            assertThat(context.getBean(EarlyUser.class).failure).isNull();
            assertThat(capacity(context, "tenant:gold")).isEqualTo(2);
        });
    }

    private static int capacity(ApplicationContext context, String name) {
        context.getBean(SemaphoreTemplate.class)
                .acquire(AcquireRequest.of(name))
                .release();
        return context.getBean(SemaphoreAdmin.class).find(name).orElseThrow().capacity();
    }

    @Configuration(proxyBeanMethods = false)
    static class Plans {

        @Bean
        @Order(2)
        CapacityProvider plans() {
            return name -> name.equals("tenant:gold") ? OptionalInt.of(7) : OptionalInt.empty();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class FirstPlans {

        @Bean
        @Order(1)
        CapacityProvider firstPlans() {
            return name -> OptionalInt.of(9);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class DependentPlans {

        @Bean
        CapacityProvider dependentPlans(SemaphoreTemplate semaphores) {
            return name -> OptionalInt.of(semaphores.find(name).isEmpty() ? 3 : 4);
        }
    }

    /** Acquires while beans are being created. */
    static class EarlyUser {

        private final @Nullable Throwable failure;

        EarlyUser(SemaphoreTemplate semaphores) {
            failure = catchThrowable(
                    () -> semaphores.acquire(AcquireRequest.of("tenant:gold")).release());
        }
    }
}
