package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import com.example.ledger.LedgerApplication;
import com.example.orders.OrdersApplication;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.engine.SemaphoreTableMismatchException;
import io.dbsemaphore.engine.SemaphoreTablesMissingException;
import java.nio.file.Path;
import java.util.List;
import java.util.Locale;
import java.util.UUID;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.jdbc.core.JdbcTemplate;

/** {@code semaphore.jdbc.initialize-schema} on H2: the starter and a database are enough, and whoever creates the tables may do so. */
@ExtendWith(OutputCaptureExtension.class)
class InitializeSchemaTests {

    private static final String ONE_PERMIT = "semaphore.semaphores.orders.capacity=1";
    private static final String CREATED = "Created the tables of the semaphores by db/dbsemaphore/sql/h2.sql";

    private final String url = "spring.datasource.url=jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1".formatted(UUID.randomUUID());
    private final ApplicationContextRunner host = Hosts.jdbcWithoutTables().withPropertyValues(url, ONE_PERMIT);

    @Test
    void createsTheTablesInMemoryByDefault(CapturedOutput output) {
        host.run(InitializeSchemaTests::assertThatSemaphoresWork);

        assertThat(output).containsOnlyOnce(CREATED);
    }

    @Test
    void createsTablesWithThePrefix() {
        host.withPropertyValues("semaphore.jdbc.table-prefix=app_").run(context -> {
            assertThatSemaphoresWork(context);
            assertThat(tables(context))
                    .contains("APP_SEMAPHORE", "APP_CAPACITY_CHANGE")
                    .noneMatch(table -> table.startsWith("SEMAPHORE"));
        });
    }

    @ParameterizedTest
    @ValueSource(
            strings = {"MODE=MySQL", "MODE=PostgreSQL;DATABASE_TO_LOWER=TRUE", "MODE=MariaDB", "DATABASE_TO_UPPER=FALSE"
            })
    void createsTheTablesInEachModeOfH2(String mode) {
        host.withPropertyValues(url + ";" + mode).run(InitializeSchemaTests::assertThatSemaphoresWork);
    }

    @Test
    void createsNoTablesInAFileByDefault(@TempDir Path directory) {
        host.withPropertyValues("spring.datasource.url=jdbc:h2:file:" + directory.resolve("app"))
                .run(context ->
                        assertThat(context).getFailure().hasCauseInstanceOf(SemaphoreTablesMissingException.class));
    }

    @Test
    void createsThemInAFileOnceWithAlways(CapturedOutput output, @TempDir Path directory) {
        ApplicationContextRunner onFile = host.withPropertyValues(
                "spring.datasource.url=jdbc:h2:file:" + directory.resolve("app"),
                "semaphore.jdbc.initialize-schema=always");

        onFile.run(InitializeSchemaTests::assertThatSemaphoresWork);
        onFile.run(InitializeSchemaTests::assertThatSemaphoresWork);

        assertThat(output).containsOnlyOnce(CREATED);
    }

    @Test
    void createsNothingWithNever() {
        host.withPropertyValues("semaphore.jdbc.initialize-schema=never")
                .run(context ->
                        assertThat(context).getFailure().hasCauseInstanceOf(SemaphoreTablesMissingException.class));
    }

    @Test
    void completesTablesOfWhichSomeAreMissing() {
        host.run(context -> {
            context.getBean(JdbcTemplate.class).execute("alter table semaphore drop column waiters_until");
            context.getBean(JdbcTemplate.class).execute("drop table semaphore_waiter");
        });

        host.run(InitializeSchemaTests::assertThatSemaphoresWork);
    }

    /** The script would add columns and constraints to it. */
    @ParameterizedTest
    @ValueSource(strings = {"semaphore", "permit_request", "permit", "capacity_change"})
    void leavesTheTableOfAnotherApplicationAlone(String table) {
        host.withPropertyValues("semaphore.enabled=false")
                .run(context -> context.getBean(JdbcTemplate.class)
                        .execute("create table %s (id bigint primary key, building varchar(100))".formatted(table)));

        host.run(context -> assertThat(context)
                .getFailure()
                .hasCauseInstanceOf(SemaphoreTableMismatchException.class)
                .hasStackTraceContaining("The table '%s' lacks the column(s)".formatted(table))
                .hasStackTraceContaining("set semaphore.jdbc.table-prefix"));

        host.withPropertyValues("semaphore.enabled=false")
                .run(context -> assertThat(tables(context)).containsExactly(table.toUpperCase(Locale.ROOT)));
    }

    /** The application's changelog is run before, so nothing is left to do; it would fail on existing tables. */
    @Test
    void leavesTheTablesToAChangelogOfTheApplication(CapturedOutput output) {
        try (ConfigurableApplicationContext orders = Hosts.orders(url, ONE_PERMIT)) {
            AtHome.assertIn(orders);
        }

        assertThat(output).doesNotContain(CREATED);
    }

    @Test
    void leavesTheTablesToTheChangelogOfTheLibrary(CapturedOutput output) {
        host.withPropertyValues("semaphore.liquibase.enabled=true", "semaphore.jdbc.initialize-schema=always")
                .run(InitializeSchemaTests::assertThatSemaphoresWork);

        assertThat(output).doesNotContain(CREATED);
    }

    @Test
    void leavesTheTablesToAScriptOfTheApplication(CapturedOutput output) {
        try (ConfigurableApplicationContext ledger = Hosts.start(
                LedgerApplication.class,
                url,
                ONE_PERMIT,
                "spring.liquibase.enabled=false",
                "spring.sql.init.schema-locations=classpath:com/example/ledger/schema.sql,"
                        + "classpath:db/dbsemaphore/sql/h2.sql")) {
            AtHome.assertIn(ledger);
        }

        assertThat(output).doesNotContain(CREATED);
    }

    /** Hibernate creates the tables of the application's entities, and drops them at the end. */
    @Test
    void createsTheTablesBesideThoseOfHibernate(CapturedOutput output) {
        try (ConfigurableApplicationContext orders = Hosts.start(
                OrdersApplication.class,
                url,
                ONE_PERMIT,
                "spring.liquibase.enabled=false",
                "spring.jpa.hibernate.ddl-auto=create-drop")) {
            AtHome.assertIn(orders);
        }

        assertThat(output).containsOnlyOnce(CREATED);
    }

    @Test
    void needsNoDataSource() {
        Hosts.bare()
                .withPropertyValues("semaphore.jdbc.initialize-schema=always")
                .run(context -> assertThat(context).hasNotFailed().doesNotHaveBean(SemaphoreTemplate.class));
    }

    private static void assertThatSemaphoresWork(ApplicationContext context) {
        assertThat(context.getBean(SemaphoreTemplate.class)
                        .<Boolean, RuntimeException>execute(AcquireRequest.of("orders"), grant -> grant.isHeld()))
                .as("held")
                .isEqualTo(true);
    }

    private static List<String> tables(ApplicationContext context) {
        return context.getBean(JdbcTemplate.class)
                .queryForList(
                        "select table_name from information_schema.tables where table_schema = 'PUBLIC'", String.class);
    }
}
