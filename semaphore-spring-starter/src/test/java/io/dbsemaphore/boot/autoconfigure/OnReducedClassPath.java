package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;

/** What a test of a {@link ClassPath} runs: loaded anew, it must need nothing that may be missing. */
public final class OnReducedClassPath {

    private OnReducedClassPath() {}

    /** The application, {@code orders} (JPA) or {@code ledger} (JDBC), and a class that must not be there. */
    public static void run(String[] applicationAndAbsentClass) throws Exception {
        assertThatExceptionOfType(ClassNotFoundException.class)
                .isThrownBy(() -> Class.forName(applicationAndAbsentClass[1]));
        String application = applicationAndAbsentClass[0];
        Class<?> main = Class.forName(
                application.equals("orders")
                        ? "com.example.orders.OrdersApplication"
                        : "com.example.ledger.LedgerApplication");
        try (ConfigurableApplicationContext host = new SpringApplicationBuilder(main)
                .web(WebApplicationType.NONE)
                .properties(
                        "spring.main.banner-mode=off",
                        "management.endpoints.web.exposure.include=*",
                        "spring.flyway.enabled=false",
                        "spring.liquibase.enabled=false",
                        "spring.sql.init.schema-locations=classpath:db/dbsemaphore/sql/h2.sql,"
                                + "classpath:com/example/" + application + "/schema.sql",
                        "semaphore.semaphores.orders.capacity=1")
                .run()) {
            AtHome.assertIn(host);
        }
    }
}
