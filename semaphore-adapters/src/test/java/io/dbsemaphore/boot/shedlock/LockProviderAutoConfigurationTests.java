package io.dbsemaphore.boot.shedlock;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.boot.autoconfigure.SemaphoreAutoConfiguration;
import io.dbsemaphore.config.SemaphoreSettings;
import java.time.Duration;
import java.util.Map;
import java.util.Optional;
import java.util.concurrent.Executors;
import java.util.concurrent.ScheduledExecutorService;
import java.util.concurrent.atomic.AtomicInteger;
import net.javacrumbs.shedlock.core.ClockProvider;
import net.javacrumbs.shedlock.core.DefaultLockingTaskExecutor;
import net.javacrumbs.shedlock.core.LockConfiguration;
import net.javacrumbs.shedlock.core.LockProvider;
import net.javacrumbs.shedlock.spring.annotation.EnableSchedulerLock;
import net.javacrumbs.shedlock.spring.annotation.SchedulerLock;
import net.javacrumbs.shedlock.support.KeepAliveLockProvider;
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
import org.springframework.core.env.MapPropertySource;

@ExtendWith(OutputCaptureExtension.class)
class LockProviderAutoConfigurationTests {

    private static final String ENABLED = "semaphore.adapters.shedlock.enabled=true";

    private final ApplicationContextRunner host = new ApplicationContextRunner()
            .withConfiguration(AutoConfigurations.of(
                    DataSourceAutoConfiguration.class,
                    SemaphoreAutoConfiguration.class,
                    LockProviderAutoConfiguration.class))
            .withPropertyValues("semaphore.liquibase.enabled=true", "spring.datasource.generate-unique-name=true");

    @Test
    void isOffUnlessAskedFor() {
        host.run(context -> {
            assertThat(context).hasSingleBean(SemaphoreTemplate.class).doesNotHaveBean(LockProvider.class);
            assertThat(context.getBean(SemaphoreSettings.class).get(SemaphoreSettings.PATTERNS))
                    .isEmpty();
        });
    }

    @Test
    void runsTasksUnderSemaphores(CapturedOutput log) {
        host.withPropertyValues(ENABLED).run(context -> {
            SemaphoreAdmin admin = context.getBean(SemaphoreAdmin.class);
            LockConfiguration nightly =
                    new LockConfiguration(ClockProvider.now(), "nightly", Duration.ofMinutes(5), Duration.ofMinutes(1));
            DefaultLockingTaskExecutor executor = new DefaultLockingTaskExecutor(context.getBean(LockProvider.class));

            int holders = executor.<Integer>executeWithLock(
                            () -> admin.holders("shedlock:nightly").size(), nightly)
                    .getResult();

            assertThat(holders).isEqualTo(1);
            boolean again = executor.<Integer>executeWithLock(() -> 1, nightly).wasExecuted();
            assertThat(again).as("within lockAtLeastFor").isEqualTo(false);
        });
        assertThat(log).doesNotContain("semaphore.adapters.shedlock.enabled=true");
    }

    /** What an application with ShedLock has, and nothing else of this library than the property. */
    @Test
    void guardsScheduledMethods() {
        host.withPropertyValues(ENABLED).withUserConfiguration(Jobs.class).run(context -> {
            Job job = context.getBean(Job.class);

            job.run();
            job.run();

            assertThat(job.runs()).isEqualTo(1);
            assertThat(context.getBean(SemaphoreAdmin.class).holders("shedlock:nightly"))
                    .as("for lockAtLeastFor")
                    .hasSize(1);
        });
    }

    @Test
    void usesItsPrefix() {
        host.withPropertyValues(ENABLED, "semaphore.adapters.shedlock.prefix=jobs/")
                .run(context -> {
                    var unused = context.getBean(LockProvider.class)
                            .lock(new LockConfiguration(
                                    ClockProvider.now(), "nightly", Duration.ofMinutes(5), Duration.ZERO));

                    assertThat(context.getBean(SemaphoreAdmin.class).holders("jobs/nightly"))
                            .hasSize(1);
                });
    }

    @Test
    void backsOffWhereTheApplicationHasALockProvider(CapturedOutput log) {
        host.withPropertyValues(ENABLED)
                .withUserConfiguration(OwnLockProvider.class)
                .run(context -> assertThat(context)
                        .hasSingleBean(LockProvider.class)
                        .doesNotHaveBean(SemaphoreLockProvider.class));
        assertThat(log).contains("semaphore.adapters.shedlock.enabled=true only declares the pattern");
    }

    /** The first property is that of docs/adapters.md. */
    @ParameterizedTest
    @CsvSource({"semaphore.patterns.[shedlock:*].capacity, 1", "semaphore.adapters.shedlock.enabled, true"})
    void worksWithAProviderThatExtendsItsLocks(String property, String value) {
        host.withInitializer(context -> context.getEnvironment()
                        .getPropertySources()
                        .addFirst(new MapPropertySource("test", Map.of(property, value))))
                .withUserConfiguration(ExtendingLockProvider.class)
                .run(context -> {
                    var unused = context.getBean(LockProvider.class)
                            .lock(new LockConfiguration(
                                    ClockProvider.now(), "nightly", Duration.ofMinutes(5), Duration.ZERO));

                    assertThat(context.getBean(SemaphoreAdmin.class).holders("shedlock:nightly"))
                            .hasSize(1);
                });
    }

    @Test
    void isNotThereWithoutSemaphores() {
        host.withPropertyValues(ENABLED, "semaphore.enabled=false")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(LockProvider.class));
    }

    @Test
    void needsShedLock() {
        host.withPropertyValues(ENABLED)
                .withClassLoader(new FilteredClassLoader("net.javacrumbs.shedlock"))
                .run(context -> assertThat(context)
                        .hasSingleBean(SemaphoreTemplate.class)
                        .doesNotHaveBean(LockProviderAutoConfiguration.class));
    }

    @Test
    void doesNotStartWithAPrefixThatCannotWork() {
        host.withPropertyValues(ENABLED, "semaphore.adapters.shedlock.prefix=jobs*")
                .run(context -> assertThat(context)
                        .getFailure()
                        .hasStackTraceContaining("semaphore.adapters.shedlock")
                        .rootCause()
                        .hasMessageContaining("prefix"));
    }

    @Configuration(proxyBeanMethods = false)
    @EnableSchedulerLock(defaultLockAtMostFor = "10m")
    static class Jobs {

        @Bean
        static Job job() {
            return new Job();
        }
    }

    static class Job {

        private final AtomicInteger runs = new AtomicInteger();

        @SchedulerLock(name = "nightly", lockAtLeastFor = "5m")
        void run() {
            runs.incrementAndGet();
        }

        int runs() {
            return runs.get();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class ExtendingLockProvider {

        @Bean(destroyMethod = "shutdownNow")
        ScheduledExecutorService extensions() {
            return Executors.newSingleThreadScheduledExecutor();
        }

        @Bean
        LockProvider lockProvider(SemaphoreOperations semaphores, ScheduledExecutorService extensions) {
            return new KeepAliveLockProvider(new SemaphoreLockProvider(semaphores, "shedlock:"), extensions);
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnLockProvider {

        @Bean
        LockProvider ownLockProvider() {
            return configuration -> Optional.empty();
        }
    }
}
