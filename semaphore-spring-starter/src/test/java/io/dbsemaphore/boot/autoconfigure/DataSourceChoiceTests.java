package io.dbsemaphore.boot.autoconfigure;

import static io.dbsemaphore.boot.autoconfigure.Wirings.database;
import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.engine.SemaphoreEngine;
import java.util.Map;
import javax.sql.DataSource;
import org.assertj.core.api.AbstractThrowableAssert;
import org.junit.jupiter.api.Test;
import org.springframework.beans.factory.NoUniqueBeanDefinitionException;
import org.springframework.boot.test.context.assertj.AssertableApplicationContext;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.context.annotation.Primary;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.LazyConnectionDataSourceProxy;
import org.springframework.jdbc.datasource.lookup.AbstractRoutingDataSource;

class DataSourceChoiceTests {

    private final ApplicationContextRunner host = Hosts.jdbc();

    @Test
    void takesThePrimaryOne() {
        host.withUserConfiguration(Wirings.TwoOnePrimary.class)
                .run(context -> assertHasTables(context, "orders", "billing"));
    }

    @Test
    void takesTheOneThatIsNamed() {
        host.withUserConfiguration(Wirings.TwoOnePrimary.class)
                .withPropertyValues("semaphore.datasource=billing")
                .run(context -> assertHasTables(context, "billing", "orders"));
    }

    @Test
    void takesTheOneThatIsNamedOfSeveralEquals() {
        host.withUserConfiguration(Wirings.TwoEquals.class)
                .withPropertyValues("semaphore.datasource=billing")
                .run(context -> assertHasTables(context, "billing", "orders"));
    }

    @Test
    void takesTheAnnotatedOneOfSeveral() {
        host.withUserConfiguration(Annotated.class).run(context -> assertHasTables(context, "billing", "orders"));
    }

    @Test
    void takesTheAnnotatedOneOfAParentContext() {
        new ApplicationContextRunner()
                .withUserConfiguration(Annotated.class)
                .run(parent -> Hosts.bare()
                        .withParent(parent)
                        .withPropertyValues("semaphore.liquibase.enabled=true")
                        .run(context -> {
                            assertThat(context).hasNotFailed();
                            assertHasTables(parent, "billing", "orders");
                        }));
    }

    @Test
    void takesTheAnnotatedOneThatIsNoCandidateForAnythingElse() {
        Hosts.bare()
                .withUserConfiguration(AnnotatedNoCandidate.class)
                .withPropertyValues("semaphore.liquibase.enabled=true")
                .run(context -> {
                    assertThat(context).hasNotFailed().hasSingleBean(SemaphoreEngine.class);
                    assertThat(tables(context, "hidden")).isEqualTo(1);
                });
    }

    @Test
    void takesTheOneThatIsNamedBeforeTheAnnotatedOne() {
        host.withUserConfiguration(Annotated.class)
                .withPropertyValues("semaphore.datasource=orders")
                .run(context -> assertHasTables(context, "orders", "billing"));
    }

    @Test
    void refusesTwoAnnotatedOnes() {
        Hosts.bare()
                .withUserConfiguration(TwoAnnotated.class)
                .run(context -> assertThatFailure(context)
                        .hasMessageContaining(
                                "several with @SemaphoreDataSource and none of them is primary: billing, orders")
                        .hasNoCause());
    }

    @Test
    void takesTheOnlyCandidate() {
        host.withUserConfiguration(OneCandidate.class).run(context -> assertHasTables(context, "orders", "billing"));
    }

    @Test
    void takesOneThatIsNamedAndNoCandidateForAnythingElse() {
        Hosts.bare()
                .withUserConfiguration(NoCandidate.class)
                .withPropertyValues("semaphore.datasource=hidden", "semaphore.liquibase.enabled=true")
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(SemaphoreEngine.class));
    }

    @Test
    void refusesToGuessAmongSeveral() {
        host.withUserConfiguration(Wirings.TwoEquals.class)
                .run(context -> assertThatFailure(context)
                        .hasMessageContaining("semaphore.datasource")
                        .hasMessageContaining("billing, orders")
                        .hasNoCause());
    }

    @Test
    void refusesANameThatIsNotThere() {
        host.withUserConfiguration(Wirings.TwoOnePrimary.class)
                .withPropertyValues("semaphore.datasource=biling")
                .run(context -> assertThatFailure(context)
                        .hasMessageContaining("semaphore.datasource names the bean 'biling', which does not exist")
                        .hasMessageContaining("billing, orders"));
    }

    @Test
    void refusesANameWithoutAnyDataSource() {
        Hosts.bare()
                .withPropertyValues("semaphore.datasource=billing")
                .run(context -> assertThatFailure(context)
                        .hasMessageContaining("semaphore.datasource names the bean 'billing', which does not exist"));
    }

    @Test
    void backsOffFromABlankNameWithoutAnyDataSource() {
        Hosts.bare()
                .withPropertyValues("semaphore.datasource=")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(SemaphoreEngine.class));
    }

    @Test
    void refusesABeanThatIsNoDataSource() {
        host.withPropertyValues("semaphore.datasource=jdbcTemplate")
                .run(context -> assertThatFailure(context)
                        .hasMessageContaining(
                                "semaphore.datasource names the bean 'jdbcTemplate', which is not a DataSource"));
    }

    @Test
    void refusesOneThatRoutes() {
        host.withUserConfiguration(Routing.class)
                .run(context -> assertThatFailure(context)
                        .hasMessageContaining(Routing.ByTenant.class.getName())
                        .hasMessageContaining("Set semaphore.datasource")
                        .hasMessageContaining("orders"));
    }

    @Test
    void refusesOneThatRoutesWhenItIsNamed() {
        host.withUserConfiguration(Routing.class)
                .withPropertyValues("semaphore.datasource=routing")
                .run(context -> assertThatFailure(context)
                        .hasMessageContaining("'routing'")
                        .hasMessageContaining("Set semaphore.datasource"));
    }

    @Test
    void seesThroughTheProxyOfOneThatRoutes() {
        host.withUserConfiguration(LazyRouting.class)
                .run(context -> assertThatFailure(context).hasMessageContaining(Routing.ByTenant.class.getName()));
    }

    @Test
    void takesATargetOfOneThatRoutes() {
        host.withUserConfiguration(Routing.class)
                .withPropertyValues("semaphore.datasource=orders")
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(SemaphoreEngine.class));
    }

    private static AbstractThrowableAssert<?, ? extends Throwable> assertThatFailure(
            AssertableApplicationContext context) {
        assertThat(context.getStartupFailure()).hasRootCauseInstanceOf(SemaphoreConfigurationException.class);
        assertThat(context.getStartupFailure().getCause()).isNotInstanceOf(NoUniqueBeanDefinitionException.class);
        return assertThat(context).getFailure().rootCause();
    }

    private static void assertHasTables(AssertableApplicationContext context, String with, String without) {
        assertThat(tables(context, with)).isEqualTo(1);
        assertThat(tables(context, without)).isZero();
    }

    private static Integer tables(AssertableApplicationContext context, String dataSource) {
        return new JdbcTemplate(context.getBean(dataSource, DataSource.class))
                .queryForObject(
                        "select count(*) from information_schema.tables where lower(table_name) = 'permit_request'",
                        Integer.class);
    }

    @Configuration(proxyBeanMethods = false)
    static class OneCandidate {

        @Bean
        DataSource orders() {
            return database();
        }

        @Bean(defaultCandidate = false)
        DataSource billing() {
            return database();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Annotated {

        @Bean
        @Primary
        DataSource orders() {
            return database();
        }

        @Bean
        @SemaphoreDataSource
        DataSource billing() {
            return database();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class TwoAnnotated {

        @Bean
        @SemaphoreDataSource
        DataSource orders() {
            return database();
        }

        @Bean
        @SemaphoreDataSource
        DataSource billing() {
            return database();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class AnnotatedNoCandidate {

        @Bean(defaultCandidate = false)
        @SemaphoreDataSource
        DataSource hidden() {
            return database();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class NoCandidate {

        @Bean(defaultCandidate = false)
        DataSource hidden() {
            return database();
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class Routing {

        @Bean
        DataSource orders() {
            return database();
        }

        @Bean
        @Primary
        DataSource routing(DataSource orders) {
            return new ByTenant(orders);
        }

        static final class ByTenant extends AbstractRoutingDataSource {

            ByTenant(DataSource orders) {
                setTargetDataSources(Map.of("a", orders));
                setDefaultTargetDataSource(orders);
            }

            @Override
            protected Object determineCurrentLookupKey() {
                return "a";
            }
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LazyRouting {

        @Bean
        DataSource lazy() {
            Routing.ByTenant routing = new Routing.ByTenant(database());
            routing.afterPropertiesSet();
            return new LazyConnectionDataSourceProxy(routing);
        }
    }
}
