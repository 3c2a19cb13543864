package io.dbsemaphore.boot.autoconfigure;

import io.dbsemaphore.testing.Slow;
import org.junit.jupiter.api.Test;

/** The rows of the host matrix in which libraries are missing from the class path. */
class HostMatrixClassPathTests {

    @Slow
    @Test
    void withoutActuatorOnTheClassPath() {
        ClassPath.without("actuator", "spring-boot-health")
                .call(
                        OnReducedClassPath.class,
                        "orders",
                        "org.springframework.boot.actuate.endpoint.annotation.Endpoint");
    }

    /** An application without a web server may expose all endpoints of the Actuator: it has them in common with others that have one. */
    @Test
    void withActuatorAndWithoutSpringWebOnTheClassPath() {
        ClassPath.without("spring-web", "spring-boot-web", "spring-security", "spring-boot-security", "tomcat")
                .call(OnReducedClassPath.class, "orders", "org.springframework.web.server.ResponseStatusException");
    }

    @Slow
    @Test
    void withoutMicrometerOnTheClassPath() {
        ClassPath.without("micrometer-core", "micrometer-jakarta9", "micrometer-metrics")
                .call(OnReducedClassPath.class, "orders", "io.micrometer.core.instrument.MeterRegistry");
    }

    @Slow
    @Test
    void withoutLiquibaseOnTheClassPath() {
        ClassPath.without("liquibase").call(OnReducedClassPath.class, "ledger", "liquibase.Liquibase");
    }

    @Test
    void jdbcTemplateOnlyAndNothingOptionalOnTheClassPath() {
        ClassPath.without(
                        "liquibase",
                        "flyway",
                        "spring-boot-starter-data-jpa",
                        "spring-boot-data-jpa",
                        "spring-boot-hibernate",
                        "spring-boot-jpa",
                        "spring-boot-actuator",
                        "spring-boot-health",
                        "micrometer-core",
                        "micrometer-jakarta9",
                        "micrometer-metrics",
                        "micrometer-observation-test",
                        "spring-security",
                        "reactor-core",
                        "reactive-streams",
                        "aspectjweaver",
                        "tomcat",
                        "spring-web")
                .call(
                        OnReducedClassPath.class,
                        "ledger",
                        "org.springframework.boot.hibernate.autoconfigure.HibernateJpaAutoConfiguration");
    }
}
