package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.annotation.WithPermits;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.aop.framework.ProxyFactory;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.beans.factory.ObjectProvider;
import org.springframework.beans.factory.support.RootBeanDefinition;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.support.GenericApplicationContext;

/** An application without a {@code DataSource}, started as {@code main} does. */
@ExtendWith(OutputCaptureExtension.class)
class UnenforcedPermitsTests {

    private static final List<String> ACTIONS = List.of(
            "APPLICATION FAILED TO START",
            "The semaphores have no database: there is no DataSource bean, and no semaphore.datasource.url.",
            "semaphore.datasource.url=jdbc:",
            "Define a DataSource bean",
            "semaphore.enabled=false");

    @ParameterizedTest
    @ValueSource(
            classes = {
                Annotated.class,
                AnnotatedAndLazy.class,
                AnnotatedBehindAnInterface.class,
                AnnotatedInterface.class
            })
    void refusesToStartWithABeanThatNothingLimits(Class<?> application, CapturedOutput output) {
        assertThatThrownBy(() -> Hosts.start(application)).hasStackTraceContaining("@WithPermits");

        assertThat(output)
                .contains(ACTIONS)
                .contains("The bean 'backup' (")
                .contains("has @WithPermits methods, but nothing would limit them.");
    }

    @Test
    void refusesToStartWithoutItsAutoConfiguration(CapturedOutput output) {
        assertThatThrownBy(() -> Hosts.start(Excluded.class, "spring.liquibase.enabled=false"))
                .hasStackTraceContaining("@WithPermits");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains(
                        "nothing would limit them. The auto-configuration of the semaphores, SemaphoreAutoConfiguration, is"
                                + " excluded, or comes before that of the DataSource.")
                .contains("@AutoConfiguration(before = SemaphoreAutoConfiguration.class)")
                .contains("semaphore.enabled=false");
    }

    @Test
    void refusesABeanThatIsCreatedLaterWhereItsTypeWasUnknown() {
        try (ConfigurableApplicationContext host = Hosts.start(LazyBehindAnInterface.class)) {
            assertThatThrownBy(() -> host.getBean("backup")).hasMessageContaining("nothing would limit them");
        }
    }

    @ParameterizedTest
    @ValueSource(
            classes = {InjectsTemplate.class, InjectsOperations.class, InjectsAdmin.class, InjectsMaintenance.class})
    void tellsTheSameToAnApplicationThatInjectsWhatIsNotThere(Class<?> application, CapturedOutput output) {
        assertThatThrownBy(() -> Hosts.start(application)).isNotNull();

        assertThat(output)
                .contains(ACTIONS)
                .contains("There is no " + application.getSimpleName().replace("Injects", "Semaphore") + " to inject.")
                .doesNotContain("Consider defining a bean");
    }

    @Test
    void leavesItToOthersToExplainAnotherBeanThatIsMissing(CapturedOutput output) {
        assertThatThrownBy(() -> Hosts.start(InjectsString.class)).isNotNull();

        assertThat(output).contains("Consider defining a bean").doesNotContain("semaphore.datasource.url");
    }

    @Test
    void isNotNoticedByAnApplicationThatDoesNotUseIt(CapturedOutput output) {
        try (ConfigurableApplicationContext host = Hosts.start(Unused.class)) {
            assertThat(host.getBean(Unused.Optional.class).template().getIfAvailable())
                    .isNull();
        }

        assertThat(output).doesNotContainIgnoringCase("semaphore").doesNotContain("WARN");
    }

    @Test
    void leavesABeanAloneThatIsNeverCreatedAndLacksAType() throws Exception {
        RootBeanDefinition lazy = WithPermitsAutoConfigurationTests.lazyThatLacksAType();
        Hosts.bare()
                .withInitializer(context -> ((GenericApplicationContext) context).registerBeanDefinition("lazy", lazy))
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(UnenforcedPermits.class));
    }

    @Test
    void startsWhereSemaphoresAreDisabled() {
        try (ConfigurableApplicationContext host = Hosts.start(Annotated.class, "semaphore.enabled=false")) {
            host.getBean(Backup.class).run();
        }
    }

    @EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
    static class WithoutDataSource {}

    @Import(WithoutDataSource.class)
    static class Annotated {

        @Bean
        Backup backup() {
            return new Backup();
        }
    }

    @Import(WithoutDataSource.class)
    static class AnnotatedAndLazy {

        @Bean
        @Lazy
        Backup backup() {
            return new Backup();
        }
    }

    @Import(WithoutDataSource.class)
    static class AnnotatedBehindAnInterface {

        @Bean
        Runnable backup() {
            return new Backup();
        }
    }

    @Import(WithoutDataSource.class)
    static class LazyBehindAnInterface {

        @Bean
        @Lazy
        Runnable backup() {
            return new Backup();
        }
    }

    /** As a Spring Data repository. */
    @Import(WithoutDataSource.class)
    static class AnnotatedInterface {

        @Bean
        FactoryBean<Object> backup() {
            return new FactoryBean<>() {

                @Override
                public Object getObject() {
                    return ProxyFactory.getProxy(
                            Repository.class, (org.aopalliance.intercept.MethodInterceptor) invocation -> null);
                }

                @Override
                public Class<?> getObjectType() {
                    return Repository.class;
                }
            };
        }
    }

    /** There is a database, but not what would count in it. */
    @EnableAutoConfiguration(exclude = SemaphoreAutoConfiguration.class)
    static class Excluded {

        @Bean
        Backup backup() {
            return new Backup();
        }
    }

    @Import(WithoutDataSource.class)
    static class InjectsTemplate {

        @Bean
        Object user(SemaphoreTemplate template) {
            return template;
        }
    }

    @Import(WithoutDataSource.class)
    static class InjectsOperations {

        @Bean
        Object user(SemaphoreOperations operations) {
            return operations;
        }
    }

    @Import(WithoutDataSource.class)
    static class InjectsAdmin {

        @Bean
        Object user(SemaphoreAdmin admin) {
            return admin;
        }
    }

    @Import(WithoutDataSource.class)
    static class InjectsMaintenance {

        @Bean
        Object user(SemaphoreMaintenance maintenance) {
            return maintenance;
        }
    }

    @Import(WithoutDataSource.class)
    static class InjectsString {

        @Bean
        Object user(StringBuilder text) {
            return text;
        }
    }

    @Import(WithoutDataSource.class)
    static class Unused {

        @Bean
        Optional optional(ObjectProvider<SemaphoreTemplate> template) {
            return new Optional(template);
        }

        record Optional(ObjectProvider<SemaphoreTemplate> template) {}
    }

    static class Backup implements Runnable {

        @Override
        @WithPermits("backup")
        public void run() {}
    }

    interface Repository {

        @WithPermits("backup")
        void save();
    }
}
