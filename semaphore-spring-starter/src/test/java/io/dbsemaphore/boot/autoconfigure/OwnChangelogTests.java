package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.testing.StatementGate;
import java.sql.SQLException;
import java.util.List;
import java.util.UUID;
import liquibase.Liquibase;
import liquibase.integration.spring.SpringLiquibase;
import org.h2.jdbcx.JdbcConnectionPool;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.autoconfigure.AutoConfigurations;
import org.springframework.boot.liquibase.autoconfigure.LiquibaseAutoConfiguration;
import org.springframework.boot.test.context.FilteredClassLoader;
import org.springframework.boot.test.context.runner.ApplicationContextRunner;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContext;
import org.springframework.core.io.DefaultResourceLoader;
import org.springframework.jdbc.core.JdbcTemplate;

@ExtendWith(OutputCaptureExtension.class)
class OwnChangelogTests {

    private static final String OURS = "db/dbsemaphore/changelog.xml";

    private final ApplicationContextRunner host =
            Hosts.jdbcWithoutTables().withConfiguration(AutoConfigurations.of(LiquibaseAutoConfiguration.class));

    @Test
    void runsBesideTheOneOfTheApplication() {
        host.withPropertyValues(
                        "spring.liquibase.change-log=classpath:com/example/orders/own-changelog.xml",
                        "semaphore.liquibase.enabled=true")
                .run(context -> {
                    assertThat(context).hasSingleBean(SpringLiquibase.class);
                    assertThat(changeLogs(context)).containsExactly("com/example/orders/own-changelog.xml", OURS);
                });
    }

    @Test
    void doesNotRunWhereItWasNotAskedFor() {
        ApplicationContextRunner withoutScript = host.withPropertyValues("semaphore.jdbc.initialize-schema=never");
        withoutScript
                .withPropertyValues("spring.liquibase.change-log=classpath:com/example/orders/changelog.xml")
                .run(context -> assertThat(context).hasNotFailed());
        withoutScript
                .withPropertyValues("spring.liquibase.change-log=classpath:com/example/orders/own-changelog.xml")
                .run(context -> assertThat(context).hasFailed());
    }

    @Test
    void findsItsWorkDoneWhereTheApplicationIncludesItToo() {
        host.withPropertyValues(
                        "spring.liquibase.change-log=classpath:com/example/orders/changelog.xml",
                        "semaphore.liquibase.enabled=true")
                .run(context ->
                        assertThat(changeLogs(context)).containsExactly("com/example/orders/own-changelog.xml", OURS));
    }

    @Test
    void hasItsWorkDoneWhereTheApplicationIncludesItLater() {
        ApplicationContextRunner sameDatabase = host.withPropertyValues(
                "spring.datasource.url=jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1".formatted(UUID.randomUUID()));
        sameDatabase
                .withPropertyValues("spring.liquibase.enabled=false", "semaphore.liquibase.enabled=true")
                .run(context -> assertThat(context).hasNotFailed());

        sameDatabase
                .withPropertyValues("spring.liquibase.change-log=classpath:com/example/orders/changelog.yaml")
                .run(context ->
                        assertThat(changeLogs(context)).containsExactly(OURS, "com/example/orders/own-changelog.xml"));
    }

    /** Liquibase looks whether its history exists, and creates it, before it waits for the other instance. */
    @Test
    void isRunAgainWhereAnotherInstanceHasCreatedTheHistory() {
        JdbcConnectionPool pool =
                JdbcConnectionPool.create("jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1".formatted(UUID.randomUUID()), "", "");
        try (StatementGate gate = new StatementGate(pool)) {
            gate.failAfter(
                    "CREATE TABLE PUBLIC.DATABASECHANGELOG (",
                    new SQLException("Table \"DATABASECHANGELOG\" already exists", "42S01", 42101));

            OwnChangelog.run(gate, "", new DefaultResourceLoader());

            assertThat(gate.count("CREATE TABLE PUBLIC.DATABASECHANGELOG (")).isEqualTo(1);
            assertThat(new JdbcTemplate(pool).queryForList("select * from semaphore"))
                    .isEmpty();
        } finally {
            pool.dispose();
        }
    }

    @Test
    void prefixesTheTables() {
        Hosts.jdbc()
                .withPropertyValues("semaphore.jdbc.table-prefix=app_", "semaphore.semaphores.backup.capacity=1")
                .run(context -> {
                    context.getBean(SemaphoreTemplate.class)
                            .executeWithoutResult(AcquireRequest.of("backup"), grant -> {});
                    assertThat(count(context, "app_permit")).isEqualTo(1);
                });
    }

    @Test
    void prefixesTheTablesOfAnIncludedChangelogByItsParameter() {
        host.withPropertyValues(
                        "spring.liquibase.change-log=classpath:com/example/orders/changelog.xml",
                        "spring.liquibase.parameters.[dbsemaphore.tablePrefix]=app_",
                        "semaphore.jdbc.table-prefix=app_",
                        "semaphore.semaphores.backup.capacity=1")
                .run(context -> assertThat(count(context, "app_semaphore")).isEqualTo(1));
    }

    @Test
    void printsNothingOfItsOwn(CapturedOutput output) {
        Hosts.jdbc().run(context -> assertThat(context).hasNotFailed());

        assertThat(output).doesNotContain("UPDATE SUMMARY").doesNotContain("Running Changeset: db/dbsemaphore");
    }

    @Test
    void saysWhatToAddWhereLiquibaseIsMissing() {
        Hosts.jdbc()
                .withClassLoader(new FilteredClassLoader(Liquibase.class))
                .run(context -> assertThat(context)
                        .getFailure()
                        .rootCause()
                        .isInstanceOf(SemaphoreConfigurationException.class)
                        .hasMessageContaining("semaphore.liquibase.enabled")
                        .hasMessageContaining("org.liquibase:liquibase-core"));
    }

    @Test
    void isNotMissedWhereLiquibaseIsMissing() {
        String url = "spring.datasource.url=jdbc:h2:mem:%s;DB_CLOSE_DELAY=-1".formatted(UUID.randomUUID());
        Hosts.jdbc().withPropertyValues(url).run(context -> assertThat(context).hasNotFailed());

        Hosts.jdbcWithoutTables()
                .withPropertyValues(url)
                .withClassLoader(new FilteredClassLoader("liquibase"))
                .run(context -> assertThat(context).hasNotFailed().hasSingleBean(SemaphoreTemplate.class));
    }

    private static List<String> changeLogs(ApplicationContext context) {
        return context
                .getBean(JdbcTemplate.class)
                .queryForList("select filename from databasechangelog order by orderexecuted", String.class)
                .stream()
                .distinct()
                .toList();
    }

    private static Integer count(ApplicationContext context, String table) {
        return context.getBean(JdbcTemplate.class).queryForObject("select count(*) from " + table, Integer.class);
    }
}
