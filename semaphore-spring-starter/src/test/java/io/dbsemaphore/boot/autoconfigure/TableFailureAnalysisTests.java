package io.dbsemaphore.boot.autoconfigure;

import static io.dbsemaphore.boot.autoconfigure.Hosts.assertStartFails;
import static org.assertj.core.api.Assertions.assertThat;

import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.Timeout;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.liquibase.autoconfigure.LiquibaseAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContextException;
import org.springframework.jdbc.core.JdbcTemplate;

/** What a start says that fails for the tables: they are missing, of another application, or of an older version. */
@ExtendWith(OutputCaptureExtension.class)
class TableFailureAnalysisTests {

    private static final String NEVER = "semaphore.jdbc.initialize-schema=never";

    @Test
    void showsTheLineToAddWhereTablesAreMissing(CapturedOutput output) {
        assertStartFails(ApplicationContextException.class, Hosts.OnDataSource.class, NEVER);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("Tables of the semaphores are missing from the database: semaphore, permit_request, permit, "
                        + "semaphore_instance, semaphore_waiter, semaphore_share, capacity_change are required")
                .contains("<include file=\"db/dbsemaphore/changelog.xml\"/>")
                .containsPattern("- include:\\R +file: db/dbsemaphore/changelog.xml")
                .contains("semaphore.jdbc.initialize-schema=always")
                .contains("semaphore.liquibase.enabled=true")
                .contains("db/dbsemaphore/sql/{mysql,mariadb,postgresql,h2}.sql")
                .contains("spring.datasource.hikari.schema")
                .contains("semaphore.enabled=false")
                .doesNotContain("spring.liquibase.parameters");
    }

    @Test
    void showsTheParameterToSetWherePrefixedTablesAreMissing(CapturedOutput output) {
        assertStartFails(
                ApplicationContextException.class, Hosts.OnDataSource.class, NEVER, "semaphore.jdbc.table-prefix=app_");

        assertThat(output)
                .contains(
                        "app_semaphore, app_permit_request, app_permit, app_semaphore_instance, app_semaphore_waiter, app_semaphore_share, app_capacity_change are required")
                .contains("spring.liquibase.parameters.[dbsemaphore.tablePrefix]=app_");
    }

    @Test
    void showsTheTableOfAnotherApplication(CapturedOutput output) {
        String url = "spring.datasource.url=jdbc:h2:mem:foreign;DB_CLOSE_DELAY=-1";
        Hosts.jdbc().withPropertyValues(url).run(context -> {
            JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
            jdbc.execute("drop table permit");
            jdbc.execute("create table permit (id bigint primary key, building varchar(100), issued_at date)");
        });

        assertStartFails(ApplicationContextException.class, Hosts.OnDataSource.class, url);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("The table 'permit' exists, but is not that of the semaphores")
                .contains("semaphore_id")
                .contains("semaphore.jdbc.table-prefix")
                .contains("dbsemaphore.tablePrefix");
    }

    /** It is soon clear that no other instance which starts at the same time is the cause. */
    @Test
    @Timeout(60)
    void showsWhyTheScriptFails(CapturedOutput output) {
        String url = "spring.datasource.url=jdbc:h2:mem:taken-name;DB_CLOSE_DELAY=-1";
        Hosts.jdbcWithoutTables()
                .withPropertyValues(url, "semaphore.enabled=false")
                .run(context -> context.getBean(JdbcTemplate.class)
                        .execute("create table paper (id bigint, constraint pk_permit primary key (id))"));

        assertStartFails(
                ApplicationContextException.class,
                Hosts.OnDataSource.class,
                url,
                "logging.level.org.springframework.jdbc.datasource.init=debug");

        assertThat(output.toString().lines().filter(line -> line.contains("Executing SQL script from")))
                .as("attempts")
                .hasSize(2);
        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("The tables of the semaphores cannot be created by db/dbsemaphore/sql/h2.sql")
                .contains("PK_PERMIT");
    }

    @Test
    void showsTheTableOfAnotherApplicationThatIsInTheWayOfTheChangelog(CapturedOutput output) {
        String url = "spring.datasource.url=jdbc:h2:mem:foreign-changelog;DB_CLOSE_DELAY=-1";
        Hosts.jdbcWithoutTables()
                .withPropertyValues(url, "semaphore.enabled=false")
                .run(context -> context.getBean(JdbcTemplate.class)
                        .execute("create table permit (id bigint primary key, building varchar(100))"));

        assertStartFails(
                BeanCreationException.class, Hosts.OnDataSource.class, url, "semaphore.liquibase.enabled=true");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains(
                        "The changelog of the semaphores cannot create the table 'permit', because a table of that name exists")
                .contains("semaphore.jdbc.table-prefix");
    }

    @Test
    void showsTheTableOfAnotherApplicationThatIsInTheWayOfAnIncludedChangelog(CapturedOutput output) {
        String url = "spring.datasource.url=jdbc:h2:mem:foreign-included;DB_CLOSE_DELAY=-1";
        Hosts.jdbcWithoutTables()
                .withPropertyValues(url, "semaphore.enabled=false")
                .run(context -> context.getBean(JdbcTemplate.class)
                        .execute("create table semaphore (id bigint primary key, building varchar(100))"));

        assertStartFails(
                BeanCreationException.class,
                LiquibaseHost.class,
                url,
                "spring.liquibase.change-log=classpath:db/dbsemaphore/changelog.xml");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains(
                        "The changelog of the semaphores cannot create the table 'semaphore', because a table of that name exists");
    }

    @Test
    void showsThatTheChangelogIsOfAnOlderVersion(CapturedOutput output) {
        String url = "spring.datasource.url=jdbc:h2:mem:older;DB_CLOSE_DELAY=-1";
        Hosts.jdbc()
                .withPropertyValues(url)
                .run(context ->
                        context.getBean(JdbcTemplate.class).execute("alter table capacity_change drop column permits"));

        assertStartFails(ApplicationContextException.class, Hosts.OnDataSource.class, NEVER, url);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("The table 'capacity_change' lacks the column(s) permits")
                .contains("the changelog of this version of the library has not run");
    }

    @ImportAutoConfiguration({
        DataSourceAutoConfiguration.class,
        LiquibaseAutoConfiguration.class,
        SemaphoreAutoConfiguration.class
    })
    static class LiquibaseHost {}
}
