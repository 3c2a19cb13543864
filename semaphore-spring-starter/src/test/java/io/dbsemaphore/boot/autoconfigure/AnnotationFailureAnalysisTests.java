package io.dbsemaphore.boot.autoconfigure;

import static io.dbsemaphore.boot.autoconfigure.Hosts.assertStartFails;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.aop.UnguardableMethodException;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.beans.factory.FactoryBean;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.context.annotation.Lazy;
import org.springframework.context.annotation.Scope;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;

/** What a start says that fails for an annotation: its method, its class or its name. */
@ExtendWith(OutputCaptureExtension.class)
class AnnotationFailureAnalysisTests {

    @Test
    void showsTheMethodThatCannotBeGuarded(CapturedOutput output) {
        assertStartFails(BeanCreationException.class, FinalMethod.class, "semaphore.liquibase.enabled=true");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("@WithPermits on " + Backup.class.getName() + ".run(): it is final, so no proxy can guard it")
                .containsPattern(
                        "Action:\\R\\RMake it an ordinary method \\(in Kotlin: open\\), or use SemaphoreOperations.execute in it\\.");
    }

    @Test
    void showsTheClassThatCannotBeGuarded(CapturedOutput output) {
        assertStartFails(
                BeanCreationException.class,
                FinalClass.class,
                "semaphore.liquibase.enabled=true",
                "semaphore.semaphores.backup.capacity=1");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("The class " + FinalBackup.class.getName() + " has @WithPermits methods but is final")
                .contains("Remove final (in Kotlin: make the class open");
    }

    @Test
    void leavesItToOthersToExplainAFinalClassWithoutPermits(CapturedOutput output) {
        assertStartFails(BeanCreationException.class, FinalAsyncClass.class, "semaphore.liquibase.enabled=true");

        assertThat(output).doesNotContain("has @WithPermits methods");
    }

    @Test
    void showsTheNameThatIsDeclaredNowhere(CapturedOutput output) {
        assertThatExceptionOfType(SemaphoreConfigurationException.class)
                .isThrownBy(() -> Hosts.start(
                        Misspelt.class,
                        "semaphore.liquibase.enabled=true",
                        "semaphore.semaphores.backup.capacity=1",
                        "semaphore.patterns.[tenant-*].capacity=1"));

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("@WithPermits on " + MisspeltBackup.class.getName() + ".run() names the semaphore 'bakcup'")
                .contains("each call would fail. Did you mean 'backup'?")
                .contains("semaphore.semaphores.bakcup.capacity")
                .contains("semaphore.aop.allow-unknown-names=true")
                .contains("backup");
    }

    @ParameterizedTest
    @ValueSource(classes = {LazyMisspelt.class, PrototypeMisspelt.class, MisspeltProduct.class})
    void findsANameThatIsDeclaredNowhereInABeanThatIsCreatedLater(Class<?> application) {
        assertThatExceptionOfType(SemaphoreConfigurationException.class)
                .isThrownBy(() -> Hosts.start(
                        application, "semaphore.liquibase.enabled=true", "semaphore.patterns.[tenant-*].capacity=1"))
                .withMessageContaining("names the semaphore 'bakcup'");
    }

    @Test
    void findsAMethodThatCannotBeGuardedInABeanThatIsCreatedLater() {
        assertThatExceptionOfType(UnguardableMethodException.class)
                .isThrownBy(() -> Hosts.start(
                        FinalMethod.class, "semaphore.liquibase.enabled=true", "spring.main.lazy-initialization=true"))
                .withMessageContaining("it is final");
    }

    @Test
    void startsWithANameThatIsDeclaredNowhereWhereThatIsAllowed() {
        try (ConfigurableApplicationContext started = Hosts.start(
                Misspelt.class, "semaphore.liquibase.enabled=true", "semaphore.aop.allow-unknown-names=true")) {
            assertThatExceptionOfType(SemaphoreNotFoundException.class)
                    .isThrownBy(() -> started.getBean(MisspeltBackup.class).run());
        }
    }

    @Test
    void startsWithNamesThatAreDeclaredOrMatchAPattern() {
        try (ConfigurableApplicationContext started = Hosts.start(
                Misspelt.class,
                "semaphore.liquibase.enabled=true",
                "semaphore.semaphores.bakcup.capacity=1",
                "semaphore.patterns.[tenant-*].capacity=1")) {
            started.getBean(MisspeltBackup.class).run();
            started.getBean(MisspeltBackup.class).runForATenant();
        }
    }

    @Test
    void startsWithANameThatIsInTheDatabaseOnly() {
        String url = "spring.datasource.url=jdbc:h2:mem:created-by-hand;DB_CLOSE_DELAY=-1";
        Hosts.jdbc().withPropertyValues(url).run(context -> {
            context.getBean(SemaphoreAdmin.class).create("bakcup", 1);
            context.getBean(SemaphoreAdmin.class).create("tenant-42", 1);
        });

        try (ConfigurableApplicationContext started = Hosts.start(Misspelt.class, url)) {
            started.getBean(MisspeltBackup.class).run();
        }
    }

    @Import(Hosts.OnDataSource.class)
    static class FinalMethod {

        @Bean
        Backup backup() {
            return new Backup();
        }
    }

    static class Backup {

        @WithPermits("backup")
        public final void run() {}
    }

    @Import(Hosts.OnDataSource.class)
    static class FinalClass {

        @Bean
        FinalBackup backup() {
            return new FinalBackup();
        }
    }

    static final class FinalBackup {

        @WithPermits("backup")
        public void run() {}
    }

    @EnableAsync(proxyTargetClass = true)
    static class FinalAsyncClass {

        @Bean
        FinalAsync async() {
            return new FinalAsync();
        }
    }

    static final class FinalAsync {

        @Async
        public void run() {}
    }

    @Import(Hosts.OnDataSource.class)
    static class Misspelt {

        @Bean
        MisspeltBackup backup() {
            return new MisspeltBackup();
        }
    }

    @Import(Hosts.OnDataSource.class)
    static class LazyMisspelt {

        @Bean
        @Lazy
        MisspeltBackup backup() {
            return new MisspeltBackup();
        }
    }

    @Import(Hosts.OnDataSource.class)
    static class PrototypeMisspelt {

        @Bean
        @Scope("prototype")
        MisspeltBackup backup() {
            return new MisspeltBackup();
        }
    }

    /** The factory is created at start, its product when somebody asks for it. */
    @Import(Hosts.OnDataSource.class)
    static class MisspeltProduct {

        @Bean
        FactoryBean<MisspeltBackup> backup() {
            return new FactoryBean<>() {

                @Override
                public MisspeltBackup getObject() {
                    throw new IllegalStateException("Nobody has asked for the product");
                }

                @Override
                public Class<?> getObjectType() {
                    return MisspeltBackup.class;
                }
            };
        }
    }

    static class MisspeltBackup {

        @WithPermits("bakcup")
        public void run() {}

        @WithPermits("tenant-42")
        public void runForATenant() {}

        @WithPermits("tenant-#{#p0}")
        public void runForAnyTenant(long id) {}
    }
}
