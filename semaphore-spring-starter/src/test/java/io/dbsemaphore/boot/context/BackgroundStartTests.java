package io.dbsemaphore.boot.context;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.example.orders.OrdersApplication;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.boot.autoconfigure.AtHome;
import io.dbsemaphore.boot.autoconfigure.Hosts;
import io.dbsemaphore.engine.SemaphoreTablesMissingException;
import io.dbsemaphore.testing.StatementGate;
import java.time.Duration;
import java.util.List;
import liquibase.exception.LiquibaseException;
import liquibase.integration.spring.SpringLiquibase;
import org.awaitility.Awaitility;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.slf4j.LoggerFactory;
import org.springframework.beans.factory.InitializingBean;
import org.springframework.beans.factory.SmartInitializingSingleton;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Configuration;
import org.springframework.core.env.Environment;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseBuilder;
import org.springframework.jdbc.datasource.embedded.EmbeddedDatabaseType;

/** The engine starts beside the application's own beans, which wait for it only where they use it. */
@Timeout(180)
@ExtendWith(OutputCaptureExtension.class)
class BackgroundStartTests {

    private static final String ONE_PERMIT = "semaphore.semaphores.orders.capacity=1";
    private static final String LOG_OF_ENGINE = "logging.level.io.dbsemaphore.engine=info";
    private static final Duration SOON = Duration.ofSeconds(60);

    /** The library's first look at its tables is held up until all beans of the application are made. */
    @Test
    void holdsUpNoOtherBean() {
        try (ConfigurableApplicationContext host = Hosts.orders(Gated.class, SlowTables.class, ONE_PERMIT)) {
            AtHome.assertIn(host);
        }
    }

    @Test
    void isWaitedForByTheFirstUse() {
        try (ConfigurableApplicationContext host = Hosts.orders(EarlyUser.class, ONE_PERMIT)) {
            assertThat(host.getBean(EarlyUser.class).held).as("held").isEqualTo(true);
        }
    }

    /** Hibernate writes one for each persistence unit: here that of the application. */
    @Test
    void writesNoBlockAboutTheDatabase(CapturedOutput output) {
        Hosts.orders(ONE_PERMIT, "logging.level.org.hibernate.orm.connections.pooling=info")
                .close();

        assertThat(output).containsOnlyOnce("Database info");
    }

    /** As JHipster's: the bean is there before the tables are. */
    @Test
    void waitsForAChangelogThatRunsInTheBackground() {
        try (ConfigurableApplicationContext host = Hosts.start(
                OrdersApplication.class,
                Gated.class,
                LaterTables.class,
                "spring.jpa.hibernate.ddl-auto=none",
                ONE_PERMIT)) {
            AtHome.assertIn(host);
        }
    }

    /** By default it would be a minute where a changelog runs in the background. */
    @Test
    void waitsForTablesAsLongAsConfigured(CapturedOutput output) {
        try (ConfigurableApplicationContext host = Hosts.start(
                OrdersApplication.class,
                Gated.class,
                LaterTables.class,
                "spring.jpa.hibernate.ddl-auto=none",
                "semaphore.jdbc.schema-wait=30s",
                ONE_PERMIT)) {
            AtHome.assertIn(host);
        }

        assertThat(output).contains("waits for up to PT30S (semaphore.jdbc.schema-wait)");
    }

    @Test
    void doesNotWaitForTablesLongerThanConfigured(CapturedOutput output) {
        assertThatExceptionOfType(SemaphoreTablesMissingException.class)
                .isThrownBy(() -> Hosts.start(
                        OrdersApplication.class,
                        Gated.class,
                        LaterTables.class,
                        "spring.jpa.hibernate.ddl-auto=create",
                        "later=never",
                        "semaphore.jdbc.schema-wait=300ms"));

        assertThat(output)
                .contains("waits for up to PT0.3S (semaphore.jdbc.schema-wait)")
                .contains("If semaphore.jdbc.schema-wait is set, remove it");
    }

    /** Where no changelog runs in the background, nobody is going to make them. */
    @Test
    void failsTheApplicationAtOnceWhereTablesAreMissing(CapturedOutput output) {
        assertThatExceptionOfType(SemaphoreTablesMissingException.class)
                .isThrownBy(() -> Hosts.start(
                        OrdersApplication.class,
                        "spring.liquibase.enabled=false",
                        "spring.jpa.hibernate.ddl-auto=create",
                        "semaphore.jdbc.initialize-schema=never",
                        LOG_OF_ENGINE));

        assertThat(output).contains("Tables of the semaphores are missing").doesNotContain("are not complete yet");
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

    static final class SlowTables implements SmartInitializingSingleton {

        private final StatementGate.Pause firstLook;

        SlowTables(StatementGate gate) {
            this.firstLook = gate.pauseBefore("semaphore_instance");
        }

        @Override
        public void afterSingletonsInstantiated() {
            firstLook.awaitReached(SOON);
            firstLook.open();
        }
    }

    static final class EarlyUser implements InitializingBean {

        private final SemaphoreTemplate semaphores;
        private boolean held;

        EarlyUser(SemaphoreTemplate semaphores) {
            this.semaphores = semaphores;
        }

        @Override
        public void afterPropertiesSet() {
            held = semaphores.execute(AcquireRequest.of("orders"), grant -> grant.isHeld());
        }
    }

    @Configuration(proxyBeanMethods = false)
    static class LaterTables {

        @Bean
        SpringLiquibase liquibase(StatementGate dataSource, Environment environment) {
            AsyncLiquibase liquibase = new AsyncLiquibase(environment.containsProperty("later"));
            liquibase.setDataSource(dataSource);
            liquibase.setChangeLog("classpath:com/example/orders/changelog.xml");
            return liquibase;
        }
    }

    /** Runs the changelog once the library has looked for its tables in vain. */
    static final class AsyncLiquibase extends SpringLiquibase {

        private final boolean never;
        private final ListAppender<ILoggingEvent> looks = new ListAppender<>();

        AsyncLiquibase(boolean never) {
            this.never = never;
            looks.start();
            Logger engine = (Logger) LoggerFactory.getLogger("io.dbsemaphore.engine.EngineDatabase");
            engine.setLevel(Level.INFO);
            engine.addAppender(looks);
        }

        @Override
        public void afterPropertiesSet() {
            if (!never) {
                Thread thread = new Thread(this::runLater, "changelog");
                thread.setDaemon(true);
                thread.start();
            }
        }

        private void runLater() {
            Awaitility.await("a look at the tables")
                    .atMost(SOON)
                    .until(() -> List.copyOf(looks.list).toString().contains("not complete yet"));
            try {
                super.afterPropertiesSet();
            } catch (LiquibaseException failure) {
                throw new IllegalStateException(failure);
            }
        }
    }
}
