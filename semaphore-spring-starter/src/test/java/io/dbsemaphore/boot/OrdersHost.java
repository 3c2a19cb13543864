package io.dbsemaphore.boot;

import com.example.orders.OrdersApplication;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.testing.TestDatabase;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** The orders application with its Actuator, on the real database of these tests, started as {@code main} does. */
public final class OrdersHost implements AutoCloseable {

    private final ConfigurableApplicationContext context;

    private OrdersHost(ConfigurableApplicationContext context) {
        this.context = context;
    }

    /** Starts it without a web server. */
    public static OrdersHost on(TestDatabase.Schema database, Object... sourcesAndProperties) {
        return on(WebApplicationType.NONE, database, database.jdbcUrl(), sourcesAndProperties);
    }

    /** Starts it behind this URL. */
    public static OrdersHost behind(String url, TestDatabase.Schema database, Object... sourcesAndProperties) {
        return on(WebApplicationType.NONE, database, url, sourcesAndProperties);
    }

    /** Starts it with a web server on any port. */
    public static OrdersHost web(TestDatabase.Schema database, Object... sourcesAndProperties) {
        return on(WebApplicationType.SERVLET, database, database.jdbcUrl(), sourcesAndProperties);
    }

    /** Starts it as a reactive application with a web server on any port. */
    public static OrdersHost reactive(TestDatabase.Schema database, Object... sourcesAndProperties) {
        return on(WebApplicationType.REACTIVE, database, database.jdbcUrl(), sourcesAndProperties);
    }

    /** Starts it with a web server on any port, behind this URL of the database. */
    public static OrdersHost webBehind(String url, TestDatabase.Schema database, Object... sourcesAndProperties) {
        return on(WebApplicationType.SERVLET, database, url, sourcesAndProperties);
    }

    private static OrdersHost on(
            WebApplicationType type, TestDatabase.Schema database, String url, Object... sourcesAndProperties) {
        List<Class<?>> sources = new ArrayList<>(List.of(OrdersApplication.class));
        List<String> properties = new ArrayList<>(List.of(
                "spring.liquibase.change-log=classpath:com/example/orders/changelog.xml",
                "spring.datasource.url=" + url,
                "spring.datasource.username=" + database.username(),
                "spring.datasource.password=" + database.password(),
                "spring.flyway.enabled=false",
                "spring.main.banner-mode=off",
                "server.port=0",
                "semaphore.shutdown-timeout=0s", // grants that a test leaves would keep its end waiting
                "semaphore.semaphores.orders.capacity=1",
                "semaphore.patterns.[tenant:*].capacity=2"));
        Arrays.stream(sourcesAndProperties).forEach(each -> {
            if (each instanceof Class<?> source) {
                sources.add(source);
            } else {
                properties.add((String) each);
            }
        });
        return new OrdersHost(new SpringApplicationBuilder(sources.toArray(Class<?>[]::new))
                .web(type)
                .properties(split(properties))
                .run());
    }

    /** At the first =, since the names of semaphores may have colons. */
    private static Map<String, Object> split(List<String> properties) {
        Map<String, Object> values = new LinkedHashMap<>();
        for (String property : properties) {
            int index = property.indexOf('=');
            values.put(property.substring(0, index), property.substring(index + 1));
        }
        return values;
    }

    public SemaphoreTemplate semaphores() {
        return bean(SemaphoreTemplate.class);
    }

    public SemaphoreAdmin admin() {
        return bean(SemaphoreAdmin.class);
    }

    public <T> T bean(Class<T> type) {
        return context.getBean(type);
    }

    public ConfigurableApplicationContext context() {
        return context;
    }

    /** The port of the web server. */
    public int port() {
        return Integer.parseInt(context.getEnvironment().getRequiredProperty("local.server.port"));
    }

    @Override
    public void close() {
        context.close();
    }
}
