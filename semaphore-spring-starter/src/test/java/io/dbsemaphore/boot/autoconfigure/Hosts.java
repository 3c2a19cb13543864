package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.example.orders.OrdersApplication;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.autoconfigure.aop.AopAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceTransactionManagerAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.JdbcTemplateAutoConfiguration;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.transaction.autoconfigure.TransactionAutoConfiguration;
import org.springframework.boot.transaction.autoconfigure.TransactionManagerCustomizationAutoConfiguration;
import org.springframework.context.ConfigurableApplicationContext;

/** The applications that the starter is tried in. */
public final class Hosts {

    /** The property of the changelog of {@link OrdersApplication}. */
    public static final String ORDERS_CHANGELOG =
            "spring.liquibase.change-log=classpath:com/example/orders/changelog.xml";

    /** Grants that a test leaves would keep the end of the application waiting. */
    private static final String NO_WAIT_AT_THE_END = "semaphore.shutdown-timeout=0s";

    private Hosts() {}

    /** The starter alone: no {@code DataSource}, no tables. */
    static ApplicationContextRunner bare() {
        return new ApplicationContextRunner()
                .withConfiguration(AutoConfigurations.of(
                        SemaphoreAutoConfiguration.class, SemaphoreFallbackAutoConfiguration.class));
    }

    /** An application with a {@code JdbcTemplate} on an H2 of its own, without the tables of the library. */
    static ApplicationContextRunner jdbcWithoutTables() {
        return new ApplicationContextRunner()
                .withPropertyValues(NO_WAIT_AT_THE_END)
                .withConfiguration(AutoConfigurations.of(
                        AopAutoConfiguration.class,
                        DataSourceAutoConfiguration.class,
                        DataSourceTransactionManagerAutoConfiguration.class,
                        JdbcTemplateAutoConfiguration.class,
                        SemaphoreAutoConfiguration.class,
                        SemaphoreFallbackAutoConfiguration.class,
                        TransactionAutoConfiguration.class,
                        TransactionManagerCustomizationAutoConfiguration.class));
    }

    /** An application with a {@code JdbcTemplate} on an H2 of its own, and the tables. */
    static ApplicationContextRunner jdbc() {
        return jdbcWithoutTables().withPropertyValues("semaphore.liquibase.enabled=true");
    }

    /**
     * An application with JPA and Liquibase, all of Spring Boot's auto-configurations, started as {@code main} does; on
     * an H2 of its own unless the properties say otherwise.
     */
    public static ConfigurableApplicationContext orders(Object... sourcesAndProperties) {
        List<Object> all = new ArrayList<>(List.of(ORDERS_CHANGELOG));
        all.addAll(Arrays.asList(sourcesAndProperties));
        return start(OrdersApplication.class, all.toArray());
    }

    /** Any application, with all auto-configurations. Flyway is on the class path of the tests, so it is off by default. */
    public static ConfigurableApplicationContext start(Class<?> application, Object... sourcesAndProperties) {
        return application(application, sourcesAndProperties)
                .web(WebApplicationType.NONE)
                .run();
    }

    /** {@code BeanCreationException} where a bean fails, {@code ApplicationContextException} where the engine does, later. */
    static void assertStartFails(Class<? extends Exception> type, Class<?> application, Object... properties) {
        assertThatExceptionOfType(type).isThrownBy(() -> start(application, properties));
    }

    /** Any application, to be started. */
    public static SpringApplicationBuilder application(Class<?> application, Object... sourcesAndProperties) {
        List<Class<?>> sources = new ArrayList<>(List.of(application));
        List<String> properties = new ArrayList<>(
                List.of("spring.main.banner-mode=off", "spring.flyway.enabled=false", NO_WAIT_AT_THE_END));
        Arrays.stream(sourcesAndProperties).forEach(each -> {
            if (each instanceof Class<?> source) {
                sources.add(source);
            } else {
                properties.add((String) each);
            }
        });
        return new SpringApplicationBuilder(sources.toArray(Class<?>[]::new))
                .properties(properties.toArray(String[]::new));
    }

    /** The starter and a {@code DataSource}, an embedded H2 unless the properties say otherwise. */
    @ImportAutoConfiguration({DataSourceAutoConfiguration.class, SemaphoreAutoConfiguration.class})
    static class OnDataSource {}
}
