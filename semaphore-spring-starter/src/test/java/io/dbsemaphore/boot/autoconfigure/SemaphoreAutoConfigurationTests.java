package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.catchThrowable;
import static org.mockito.Mockito.mock;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreOperations;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.aop.WithPermitsAdvisor;
import io.dbsemaphore.engine.SemaphoreEngine;
import java.net.URL;
import java.net.URLClassLoader;
import java.util.concurrent.atomic.AtomicReference;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.DisposableBean;
import org.springframework.boot.LazyInitializationBeanFactoryPostProcessor;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DelegatingDataSource;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;
import org.springframework.transaction.PlatformTransactionManager;

class SemaphoreAutoConfigurationTests {

    private final ApplicationContextRunner host = Hosts.jdbc();

    @Test
    void offersTheTemplateAsOperationsToo() {
        host.run(context -> {
            assertThat(context).hasSingleBean(SemaphoreTemplate.class).hasSingleBean(SemaphoreAdmin.class);
            assertThat(context.getBean(SemaphoreOperations.class)).isSameAs(context.getBean(SemaphoreTemplate.class));
        });
    }

    @Test
    void acquiresAndReleasesThroughTheTemplate() {
        host.withPropertyValues("semaphore.semaphores.backup.capacity=2").run(context -> {
            SemaphoreAdmin admin = context.getBean(SemaphoreAdmin.class);

            long heldInside =
                    context.getBean(SemaphoreTemplate.class).execute(AcquireRequest.of("backup"), grant -> held(admin));

            assertThat(heldInside).isEqualTo(1);
            assertThat(held(admin)).isZero();
        });
    }

    @Test
    void bringsNoTransactionManagerOfItsOwn() {
        host.run(context -> {
            assertThat(context).getBeans(PlatformTransactionManager.class).containsOnlyKeys("transactionManager");
            assertThat(context.getBeansOfType(DataSource.class)).containsOnlyKeys("dataSource");
        });
    }

    @Test
    void backsOffWithoutADataSource() {
        Hosts.bare().run(context -> {
            assertThat(context).hasNotFailed();
            assertHasNoneOfOurs(context);
        });
    }

    @Test
    void backsOffBeforeATemplateOfTheApplication() {
        host.withUserConfiguration(OwnTemplate.class)
                .run(context -> assertThat(context)
                        .getBeanNames(SemaphoreOperations.class)
                        .containsExactly("ownTemplate"));
    }

    @Test
    void backsOffBeforeOtherOperationsOfTheApplication() {
        host.withBean("mockedOperations", SemaphoreOperations.class, () -> mock(SemaphoreOperations.class))
                .run(context -> assertThat(context)
                        .getBeanNames(SemaphoreOperations.class)
                        .containsExactly("mockedOperations"));
    }

    @Test
    void backsOffBeforeAnAdminOfTheApplication() {
        host.withBean("mockedAdmin", SemaphoreAdmin.class, () -> mock(SemaphoreAdmin.class))
                .run(context ->
                        assertThat(context).getBeanNames(SemaphoreAdmin.class).containsExactly("mockedAdmin"));
    }

    @Test
    void createsDeclaredSemaphoresEvenWhereBeansAreLazy() {
        host.withPropertyValues("semaphore.semaphores.backup.capacity=2")
                .withInitializer(context ->
                        context.addBeanFactoryPostProcessor(new LazyInitializationBeanFactoryPostProcessor()))
                .run(context -> {
                    assertThat(context.getBeanFactory().containsSingleton("semaphoreTemplate"))
                            .isFalse();
                    assertThat(context.getBean(JdbcTemplate.class)
                                    .queryForList("select capacity from semaphore where name = 'backup'"))
                            .hasSize(1);
                });
    }

    /** As with Spring Boot's DevTools, which load the classes of the application by a loader below ours. */
    @Test
    void startsWhereTheContextClassLoaderIsAnotherOne() {
        host.withClassLoader(new URLClassLoader(new URL[0], getClass().getClassLoader()))
                .run(context -> assertThat(context).hasNotFailed());
    }

    @Test
    void closesTheEngineBeforeThePool() {
        AtomicReference<@Nullable Throwable> useOfTheEngine = new AtomicReference<>();
        host.withUserConfiguration(WatchedPool.class).run(context -> {
            SemaphoreEngine engine = context.getBean(SemaphoreEngine.class);
            context.getBean(WatchedPool.Pool.class).onDestroy =
                    () -> useOfTheEngine.set(catchThrowable(() -> engine.admin().list()));

            context.close();
        });
        assertThat(useOfTheEngine.get()).hasStackTraceContaining("closed");
    }

    private static void assertHasNoneOfOurs(AssertableApplicationContext context) {
        assertThat(context)
                .doesNotHaveBean(SemaphoreEngine.class)
                .doesNotHaveBean(SemaphoreOperations.class)
                .doesNotHaveBean(SemaphoreAdmin.class)
                .doesNotHaveBean(WithPermitsAdvisor.class);
    }

    private static long held(SemaphoreAdmin admin) {
        return admin.find("backup").orElseThrow().held();
    }

    @Configuration(proxyBeanMethods = false)
    static class OwnTemplate {

        @Bean
        SemaphoreTemplate ownTemplate(SemaphoreEngine engine) {
            return new SemaphoreTemplate(engine.permitManager());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class WatchedPool {

        @Bean
        Pool dataSource() {
            return new Pool();
        }

        static final class Pool extends DelegatingDataSource implements DisposableBean {

            private Runnable onDestroy = () -> {};

            Pool() {
                super(new EmbeddedDatabaseBuilder()
                        .setType(EmbeddedDatabaseType.H2)
                        .generateUniqueName(true)
                        .build());
            }

            @Override
            public void destroy() {
                onDestroy.run();
            }
        }
    }
}
