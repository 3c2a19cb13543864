package io.dbsemaphore.boot.cost;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.orders.OrdersApplication;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.admin.SemaphoreAdmin;
import io.dbsemaphore.admin.SemaphoreMaintenance;
import io.dbsemaphore.testing.StatementGate;
import java.time.Duration;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;

/** What an application costs its database that does nothing: at most ten statements a minute. */
class IdleCostTests {

    private static final int STATEMENTS_A_MINUTE = 10;

    private ConfigurableApplicationContext host;
    private StatementGate gate;

    @BeforeEach
    void start() {
        host = new SpringApplicationBuilder(OrdersApplication.class, Gated.class)
                .web(WebApplicationType.NONE)
                .properties(
                        "spring.main.banner-mode=off",
                        "spring.flyway.enabled=false",
                        "spring.liquibase.change-log=classpath:com/example/orders/changelog.xml",
                        "semaphore.metrics.refresh-interval=1s",
                        "semaphore.maintenance.enabled=false",
                        "semaphore.semaphores.orders.capacity=1")
                .run();
        gate = host.getBean(StatementGate.class);
        Awaitility.await("the return of the connections of the start")
                .until(() -> gate.connections().current() == 0);
    }

    @AfterEach
    void close() {
        host.close();
    }

    /** That takes seconds of CPU time, which the application needs itself while it starts. */
    @Test
    void hibernateTranslatesNoQueryUntilAReportNeedsIt() {
        host.getBean(SemaphoreTemplate.class).run("orders", () -> {});
        assertThat(gate.statements())
                .anyMatch(statement -> statement.startsWith("insert into permit_request("))
                .noneMatch(statement -> statement.contains("p1_0"));

        host.getBean(SemaphoreAdmin.class).holders("orders");

        assertThat(gate.statements()).anyMatch(statement -> statement.contains("from permit p1_0"));
    }

    /** Gauges are there, and read once a second while somebody asks for them; here nobody does. */
    @Test
    void gaugesThatNobodyReadsReadNothing() {
        gate.clear();

        Awaitility.await("three times as long as gauges are good for")
                .pollDelay(Duration.ofSeconds(3))
                .until(() -> true);

        assertThat(gate.statements()).isEmpty();
    }

    /** By default orphans are looked for every five minutes, the rest is less often. */
    @Test
    void maintenanceThatFindsNothing() {
        SemaphoreMaintenance maintenance = host.getBean(SemaphoreMaintenance.class);
        maintenance.releaseOrphans(); // which makes the semaphore under which it works
        gate.clear();

        maintenance.releaseOrphans();

        assertThat(gate.statements())
                .as("statements in five minutes")
                .hasSizeLessThanOrEqualTo(5 * STATEMENTS_A_MINUTE);
    }

    @Configuration(proxyBeanMethods = false)
    static class Gated {

        @Bean
        StatementGate dataSource() {
            return new StatementGate(new EmbeddedDatabaseBuilder()
                    .setType(EmbeddedDatabaseType.H2)
                    .generateUniqueName(true)
                    .build());
        }
    }
}
