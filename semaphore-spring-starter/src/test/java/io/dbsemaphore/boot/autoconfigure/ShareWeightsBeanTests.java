package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.spi.ShareWeights;
import java.util.List;
import java.util.Map;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.util.TestPropertyValues;
import org.springframework.context.ApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;

/** The bean that gives weights is found, and asked before a caller waits. */
class ShareWeightsBeanTests {

    private final ApplicationContextRunner host = Hosts.jdbc()
            .withInitializer(context -> TestPropertyValues.of(Map.of(
                            "semaphore.semaphores.backup.capacity", "2",
                            "semaphore.semaphores.backup.weights.[acme/batch]", "2"))
                    .applyTo(context));

    @Test
    void isAskedWhereNoWeightIsConfigured() {
        host.withUserConfiguration(Plans.class)
                .run(context -> assertThat(askedBy(context)).containsExactly("backup:acme"));
    }

    @Test
    void isFoundWhereBeansAreLazy() {
        host.withUserConfiguration(Plans.class)
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .run(context -> assertThat(askedBy(context)).containsExactly("backup:acme"));
    }

    @Test
    void mayDependOnTheSemaphores() {
        host.withUserConfiguration(DependentPlans.class)
                .run(context -> assertThat(askedBy(context)).containsExactly("backup:acme"));
    }

    @Test
    void isNeededForNoShare() {
        host.run(context -> assertThat(askedBy(context)).isEmpty());
    }

    @Test
    void isThePrimaryOneOfSeveral() {
        host.withUserConfiguration(Plans.class, OtherPlans.class)
                .run(context -> assertThat(context)
                        .getFailure()
                        .isInstanceOf(NoUniqueBeanDefinitionException.class)
                        .hasMessageContaining("plans,otherPlans"));
        host.withUserConfiguration(PrimaryPlans.class, OtherPlans.class)
                .run(context -> assertThat(askedBy(context)).containsExactly("backup:acme"));
    }

    private static List<String> askedBy(ApplicationContext context) {
        context.getBean(SemaphoreTemplate.class)
                .acquire(AcquireRequest.of("backup").withShare("acme/batch"))
                .release();
        return context.getBeanProvider(RecordingPlans.class)
                .orderedStream()
                .map(plans -> plans.asked)
                .findFirst()
                .orElse(List.of());
    }

    static class RecordingPlans implements ShareWeights {

        private final List<String> asked = new CopyOnWriteArrayList<>();

        @Override
        public int weight(String semaphore, String share) {
            asked.add(semaphore + ":" + share);
            return 1;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Plans {

        @Bean
        RecordingPlans plans() {
            return new RecordingPlans();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class PrimaryPlans {

        @Bean
        @Primary
        RecordingPlans plans() {
            return new RecordingPlans();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OtherPlans {

        @Bean
        ShareWeights otherPlans() {
            return (semaphore, share) -> 9;
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class DependentPlans {

        @Bean
        RecordingPlans dependentPlans(SemaphoreTemplate semaphores) {
            return new RecordingPlans();
        }
    }
}
