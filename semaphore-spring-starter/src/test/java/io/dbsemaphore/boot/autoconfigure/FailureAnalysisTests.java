package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.annotation.WithPermits;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** What somebody reads whose application does not start. */
@ExtendWith(OutputCaptureExtension.class)
class FailureAnalysisTests {

    @Test
    void showsTheLineToAddWhereTablesAreMissing(CapturedOutput output) {
        fails(Host.class);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("The tables of the semaphores are not all in the database: semaphore, permit_request, permit"
                        + ", semaphore_instance and capacity_change.")
                .contains("<include file=\"db/dbsemaphore/changelog.xml\"/>")
                .containsPattern("- include:\\R +file: db/dbsemaphore/changelog.xml")
                .contains("semaphore.liquibase.enabled=true")
                .contains("db/dbsemaphore/sql/{mysql,mariadb,postgresql,h2}.sql")
                .contains("spring.datasource.hikari.schema")
                .contains("semaphore.enabled=false")
                .doesNotContain("spring.liquibase.parameters");
    }

    @Test
    void showsTheParameterToSetWherePrefixedTablesAreMissing(CapturedOutput output) {
        fails(Host.class, "semaphore.table-prefix=app_");

        assertThat(output)
                .contains(
                        "app_semaphore, app_permit_request, app_permit, app_semaphore_instance and app_capacity_change.")
                .contains("spring.liquibase.parameters.[dbsemaphore.tablePrefix]=app_");
    }

    @Test
    void showsTheCandidatesWhereThereAreSeveralDataSources(CapturedOutput output) {
        fails(SeveralDataSources.class);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("none of these is the only candidate or primary: billing, orders.")
                .contains("Set semaphore.datasource to the name of one of them, or make one of them @Primary.")
                .doesNotContain("NoUniqueBeanDefinitionException");
    }

    @Test
    void showsThePropertyThatDoesNotFit(CapturedOutput output) {
        fails(Host.class, "semaphore.semaphores.backup.capacity=-1");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("semaphore.semaphores.backup.capacity must be at least 0: -1");
    }

    @Test
    void showsThatTheOrderIsNoNumber(CapturedOutput output) {
        fails(Host.class, "semaphore.aop.order=first");

        assertThat(output).contains("APPLICATION FAILED TO START").contains("semaphore.aop.order");
    }

    @Test
    void showsWhichDatabasesAreSupported(CapturedOutput output) {
        fails(Host.class, "spring.datasource.url=jdbc:hsqldb:mem:unsupported");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("Semaphores are not supported on HSQL Database Engine")
                .contains("Set semaphore.datasource")
                .contains("MySQL 8.4+, MariaDB 10.11+, PostgreSQL 14+ and H2 2.x")
                .contains("semaphore.enabled=false");
    }

    @Test
    void showsHowToGetAwayFromAReadOnlyDatabase(CapturedOutput output, @TempDir Path directory) {
        String url = "spring.datasource.url=jdbc:h2:file:" + directory.resolve("replica");
        Hosts.jdbc().withPropertyValues(url).run(context -> assertThat(context).hasNotFailed());

        fails(Host.class, url + ";ACCESS_MODE_DATA=r");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("The database of the semaphores is read-only. It says: ")
                .contains("Connect to the primary: spring.datasource.url")
                .contains("Set semaphore.datasource");
    }

    @Test
    void showsHowToGetAwayFromAReadOnlyDatabaseBeforeItsOwnChangelogRuns(
            CapturedOutput output, @TempDir Path directory) {
        String url = "spring.datasource.url=jdbc:h2:file:" + directory.resolve("empty");
        Hosts.jdbcWithoutTables()
                .withPropertyValues(url, "semaphore.enabled=false")
                .run(context -> context.getBean(JdbcTemplate.class).execute("create table any_table (id int)"));

        fails(Host.class, url + ";ACCESS_MODE_DATA=r", "semaphore.liquibase.enabled=true");

        assertThat(output).contains("The database of the semaphores is read-only. It says: ");
    }

    @Test
    void showsThatThePoolIsTooSmall(CapturedOutput output) {
        fails(
                AcquiresInATransaction.class,
                "spring.datasource.hikari.maximum-pool-size=1",
                "spring.datasource.hikari.connection-timeout=250",
                "semaphore.liquibase.enabled=true",
                "semaphore.semaphores.backup.capacity=1");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .containsPattern("The pool had no connection for the semaphores: .*total=1, active=1")
                .contains("Raise spring.datasource.hikari.maximum-pool-size")
                .contains("semaphore.max-connections");
    }

    @Test
    void leavesItToOthersToExplainThatThePoolIsTooSmallForThem(CapturedOutput output) {
        fails(
                ConnectsInATransaction.class,
                "spring.datasource.hikari.maximum-pool-size=1",
                "spring.datasource.hikari.connection-timeout=250",
                "semaphore.liquibase.enabled=true");

        assertThat(output)
                .contains("total=1, active=1")
                .doesNotContain("The pool had no connection for the semaphores");
    }

    @Test
    void showsTheMethodThatCannotBeGuarded(CapturedOutput output) {
        fails(FinalMethod.class, "semaphore.liquibase.enabled=true");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("@WithPermits on " + Backup.class.getName() + ".run(): it is final, so no proxy can guard it")
                .containsPattern(
                        "Action:\\R\\RMake it an ordinary method, or use SemaphoreOperations.execute in it\\.");
    }

    private static void fails(Class<?> host, String... properties) {
        List<String> all = new ArrayList<>(List.of(properties));
        all.add("spring.main.banner-mode=off");
        assertThatExceptionOfType(BeanCreationException.class)
                .isThrownBy(() -> new SpringApplicationBuilder(host)
                        .web(WebApplicationType.NONE)
                        .properties(all.toArray(String[]::new))
                        .run());
    }

    @ImportAutoConfiguration({DataSourceAutoConfiguration.class, SemaphoreAutoConfiguration.class})
    static class Host {}

    @Import(Host.class)
    static class AcquiresInATransaction {

        @Bean
        Object startUp(SemaphoreTemplate semaphores, DataSource dataSource) {
            return new TransactionTemplate(new JdbcTransactionManager(dataSource))
                    .execute(status -> semaphores.acquire(AcquireRequest.of("backup")));
        }
    }

    @Import(Host.class)
    static class ConnectsInATransaction {

        @Bean
        Object startUp(SemaphoreTemplate semaphores, DataSource dataSource) {
            return new TransactionTemplate(new JdbcTransactionManager(dataSource)).execute(status -> {
                try (Connection second = dataSource.getConnection()) {
                    return "connected";
                } catch (SQLException failure) {
                    throw new IllegalStateException(failure);
                }
            });
        }
    }

    @Import(Host.class)
    static class FinalMethod {

        @Bean
        Backup backup() {
            return new Backup();
        }
    }

    static class Backup {

        @WithPermits("backup")
        public final void run() {}
    }

    @ImportAutoConfiguration(SemaphoreAutoConfiguration.class)
    static class SeveralDataSources {

        @Bean
        DataSource orders() {
            return new DriverManagerDataSource("jdbc:h2:mem:several-orders");
        }

        @Bean
        DataSource billing() {
            return new DriverManagerDataSource("jdbc:h2:mem:several-billing");
        }
    }
}
