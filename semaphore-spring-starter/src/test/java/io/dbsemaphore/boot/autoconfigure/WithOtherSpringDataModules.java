package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import ch.qos.logback.classic.Level;
import ch.qos.logback.classic.Logger;
import ch.qos.logback.classic.spi.ILoggingEvent;
import ch.qos.logback.core.read.ListAppender;
import com.example.plainrepositories.CustomerRepository;
import com.example.plainrepositories.CustomerService;
import com.example.plainrepositories.PlainRepositoriesApplication;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import org.slf4j.LoggerFactory;
import org.springframework.aop.support.AopUtils;
import org.springframework.beans.factory.UnsatisfiedDependencyException;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.AnnotationConfigApplicationContext;
import org.springframework.context.annotation.Configuration;
import org.springframework.data.jpa.repository.config.EnableJpaRepositories;
import org.springframework.jdbc.core.JdbcTemplate;

/** What a test of {@link OtherSpringDataModulesTests} runs, loaded anew. */
public final class WithOtherSpringDataModules {

    private WithOtherSpringDataModules() {}

    public static void run(String[] what) {
        switch (what[0]) {
            case "jdbc" -> storesAndReads();
            case "mongodb" -> createsTheRepository();
            case "strict" -> findsNoRepository(PlainRepositoriesApplication.class);
            case "withoutSpringApplication" -> isToldWhatToAnnotate();
            case "enabledByHand" -> findsNoRepository(PlainRepositoriesApplication.class, EnabledByHand.class);
            default -> throw new IllegalArgumentException(what[0]);
        }
    }

    private static void storesAndReads() {
        try (ConfigurableApplicationContext host = start(PlainRepositoriesApplication.class)) {
            host.getBean(JdbcTemplate.class)
                    .execute("create table customer (id bigint primary key, version integer, name varchar(100))");
            CustomerService service = host.getBean(CustomerService.class);

            assertThat(service.storeAndRead("Ada")).isEqualTo("Ada");
            try (PermitGrant grant = host.getBean(SemaphoreTemplate.class).acquire(AcquireRequest.of("orders"))) {
                assertThatExceptionOfType(PermitsUnavailableException.class)
                        .isThrownBy(() -> service.storeAndRead("Bob"));
            }
            assertThat(module(service)).contains(".data.jdbc.");
            assertThat(host.getClassLoader())
                    .as("the class loader of the application")
                    .isSameAs(WithOtherSpringDataModules.class.getClassLoader());
        }
    }

    /** Without a server, which the driver looks for in the background. */
    private static void createsTheRepository() {
        try (ConfigurableApplicationContext host = start(PlainRepositoriesApplication.class)) {
            assertThat(module(host.getBean(CustomerService.class))).contains(".data.mongodb.");
            try (PermitGrant grant = host.getBean(SemaphoreTemplate.class).acquire(AcquireRequest.of("orders"))) {
                assertThat(grant.isHeld()).isEqualTo(true);
            }
        }
    }

    private static void findsNoRepository(Class<?>... sources) {
        assertThatExceptionOfType(UnsatisfiedDependencyException.class)
                .isThrownBy(() -> start(sources))
                .withMessageContaining(CustomerRepository.class.getName());
    }

    /** Spring Data itself logs which repository it has left out and what to annotate, before the start fails. */
    private static void isToldWhatToAnnotate() {
        Logger logger = (Logger) LoggerFactory.getLogger("org.springframework.data.repository.config");
        ListAppender<ILoggingEvent> log = new ListAppender<>();
        log.start();
        logger.setLevel(Level.INFO);
        logger.addAppender(log);
        try (AnnotationConfigApplicationContext host = new AnnotationConfigApplicationContext()) {
            host.register(PlainRepositoriesApplication.class);

            assertThatExceptionOfType(UnsatisfiedDependencyException.class)
                    .isThrownBy(host::refresh)
                    .withMessageContaining(CustomerRepository.class.getName());
        }
        assertThat(log.list)
                .extracting(ILoggingEvent::getFormattedMessage)
                .filteredOn(message -> message.contains("Could not safely identify store assignment"))
                .singleElement()
                .asString()
                .contains(
                        CustomerRepository.class.getName(),
                        "annotating your entities",
                        "org.springframework.data.relational.core.mapping.Table");
    }

    /** The class behind the proxy tells which module has made the repository. */
    private static String module(CustomerService service) {
        return AopUtils.getTargetClass(service.customers()).getName();
    }

    private static ConfigurableApplicationContext start(Class<?>... sources) {
        return new SpringApplicationBuilder(sources)
                .web(WebApplicationType.NONE)
                .properties(
                        "spring.main.banner-mode=off",
                        "spring.flyway.enabled=false",
                        "spring.liquibase.enabled=false",
                        "semaphore.jdbc.decision-timeout=1m",
                        "semaphore.semaphores.orders.capacity=1")
                .run();
    }

    /** Scans a package without repositories, so that it needs no {@code EntityManagerFactory}. */
    @Configuration(proxyBeanMethods = false)
    @EnableJpaRepositories(basePackages = "com.example.ledger")
    static class EnabledByHand {}
}
