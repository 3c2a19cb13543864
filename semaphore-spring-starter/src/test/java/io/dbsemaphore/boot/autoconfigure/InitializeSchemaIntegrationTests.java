package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.engine.SemaphoreTablesMissingException;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.TestDatabase;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.context.ApplicationContext;

/** {@code semaphore.jdbc.initialize-schema} on a server. */
@Timeout(240)
class InitializeSchemaIntegrationTests {

    private static final int INSTANCES = 4;
    private static final Duration SOON = Duration.ofSeconds(180);

    private final TestDatabase.Schema database = TestDatabase.create();

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void createsNoTablesByDefault() {
        TestDatabase.assumeKind(DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL);

        host().run(context ->
                assertThat(context).getFailure().hasCauseInstanceOf(SemaphoreTablesMissingException.class));
    }

    @Test
    void createsTheTablesOfInstancesThatStartAtTheSameTime() {
        Concurrently.run(
                INSTANCES,
                SOON,
                index -> host().withPropertyValues("semaphore.jdbc.initialize-schema=always")
                        .run(InitializeSchemaIntegrationTests::assertThatSemaphoresWork));
    }

    @Test
    void createsTablesWithAPrefixBesideOthers() {
        ApplicationContextRunner always = host().withPropertyValues("semaphore.jdbc.initialize-schema=always");

        always.run(InitializeSchemaIntegrationTests::assertThatSemaphoresWork);
        always.withPropertyValues("semaphore.jdbc.table-prefix=app_")
                .run(InitializeSchemaIntegrationTests::assertThatSemaphoresWork);

        for (String table : List.of("semaphore", "app_semaphore")) {
            assertThat(database.jdbc().queryForList("select id from %s where name = 'orders'".formatted(table)))
                    .as(table)
                    .hasSize(1);
        }
    }

    /** As by the next version of the library. */
    @ParameterizedTest
    @ValueSource(strings = {"", "App_"})
    void completesTablesOfWhichSomeAreMissing(String prefix) {
        ApplicationContextRunner always = host().withPropertyValues(
                        "semaphore.jdbc.initialize-schema=always", "semaphore.jdbc.table-prefix=" + prefix);
        always.run(InitializeSchemaIntegrationTests::assertThatSemaphoresWork);
        database.jdbc().execute("alter table %spermit drop column checks".formatted(prefix));
        database.jdbc().execute("drop table %ssemaphore_waiter".formatted(prefix));

        always.run(InitializeSchemaIntegrationTests::assertThatSemaphoresWork);
    }

    /** PostgreSQL knows them by names in lower case. */
    @Test
    void leavesTablesWithACapitalPrefixToTheChangelogOfTheLibrary() {
        host().withPropertyValues("semaphore.liquibase.enabled=true", "semaphore.jdbc.table-prefix=App_")
                .run(InitializeSchemaIntegrationTests::assertThatSemaphoresWork);
    }

    @Test
    void createsTheTablesWhereAutoCommitIsOff() {
        host().withPropertyValues(
                        "semaphore.jdbc.initialize-schema=always", "spring.datasource.hikari.auto-commit=false")
                .run(InitializeSchemaIntegrationTests::assertThatSemaphoresWork);
    }

    @Test
    void createsTheTablesWhereTheServerRequiresPrimaryKeys() {
        TestDatabase.assumeKind(DatabaseKind.MYSQL);

        host().withPropertyValues(
                        "semaphore.jdbc.initialize-schema=always",
                        "spring.datasource.hikari.connection-init-sql=set session sql_require_primary_key = on")
                .run(InitializeSchemaIntegrationTests::assertThatSemaphoresWork);
    }

    @Test
    void createsTheTablesInTheSchemaOfTheConnection() {
        TestDatabase.assumeKind(DatabaseKind.POSTGRESQL);
        database.jdbc().execute("create schema app");

        host().withPropertyValues("semaphore.jdbc.initialize-schema=always", "spring.datasource.hikari.schema=app")
                .run(InitializeSchemaIntegrationTests::assertThatSemaphoresWork);

        assertThat(database.jdbc().queryForObject("select count(*) from app.semaphore", Integer.class))
                .isGreaterThan(0);
    }

    @Test
    void saysWhatIsMissingToARoleThatMayNotCreateTables() {
        TestDatabase.assumeKind(DatabaseKind.POSTGRESQL);
        String role = "reader_" + Math.abs(database.name().hashCode());
        database.jdbc().execute("create role %s login password 'reader'".formatted(role));
        try {
            database.jdbc().execute("revoke create on schema public from public");

            host().withPropertyValues(
                            "semaphore.jdbc.initialize-schema=always",
                            "spring.datasource.username=" + role,
                            "spring.datasource.password=reader")
                    .run(context -> assertThat(context)
                            .getFailure()
                            .hasStackTraceContaining("permission denied for schema public")
                            .hasStackTraceContaining("semaphore.jdbc.initialize-schema=never"));
        } finally {
            database.jdbc().execute("drop role " + role);
        }
    }

    @Test
    void saysWhatIsMissingToAUserWhoMayNotCreateTables() {
        TestDatabase.assumeKind(DatabaseKind.MYSQL, DatabaseKind.MARIADB);
        String user = "reader_" + database.name().hashCode();
        database.jdbc().execute("create user '%s'@'%%' identified by 'reader'".formatted(user));
        try {
            database.jdbc().execute("grant select on %s.* to '%s'@'%%'".formatted(database.name(), user));

            host().withPropertyValues(
                            "semaphore.jdbc.initialize-schema=always",
                            "spring.datasource.username=" + user,
                            "spring.datasource.password=reader")
                    .run(context -> assertThat(context)
                            .getFailure()
                            .hasStackTraceContaining("CREATE command denied to user '" + user)
                            .hasStackTraceContaining("semaphore.jdbc.initialize-schema=never"));
        } finally {
            database.jdbc().execute("drop user '%s'@'%%'".formatted(user));
        }
    }

    private ApplicationContextRunner host() {
        return Hosts.jdbcWithoutTables()
                .withPropertyValues(
                        "spring.datasource.url=" + database.jdbcUrl(),
                        "spring.datasource.username=" + database.username(),
                        "spring.datasource.password=" + database.password(),
                        "spring.datasource.hikari.maximum-pool-size=5",
                        "semaphore.semaphores.orders.capacity=4");
    }

    private static void assertThatSemaphoresWork(ApplicationContext context) {
        assertThat(context.getBean(SemaphoreTemplate.class)
                        .<Boolean, RuntimeException>execute(
                                AcquireRequest.of("orders").withWaitTime(SOON), grant -> grant.isHeld()))
                .as("held")
                .isEqualTo(true);
    }
}
