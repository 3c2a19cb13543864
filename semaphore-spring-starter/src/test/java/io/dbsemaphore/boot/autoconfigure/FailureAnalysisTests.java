package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreAdmin;
import io.dbsemaphore.SemaphoreNotFoundException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.annotation.WithPermits;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.ArrayList;
import java.util.List;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.WebApplicationType;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.liquibase.autoconfigure.LiquibaseAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContextException;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.scheduling.annotation.Async;
import org.springframework.scheduling.annotation.EnableAsync;
import org.springframework.transaction.support.TransactionTemplate;

/** What somebody reads whose application does not start. */
@ExtendWith(OutputCaptureExtension.class)
class FailureAnalysisTests {

    @Test
    void showsTheLineToAddWhereTablesAreMissing(CapturedOutput output) {
        fails(ApplicationContextException.class, Host.class);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("Tables of the semaphores are missing from the database: semaphore, permit_request, permit, "
                        + "semaphore_instance and capacity_change are required")
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
        fails(ApplicationContextException.class, Host.class, "semaphore.table-prefix=app_");

        assertThat(output)
                .contains(
                        "app_semaphore, app_permit_request, app_permit, app_semaphore_instance and app_capacity_change are required")
                .contains("spring.liquibase.parameters.[dbsemaphore.tablePrefix]=app_");
    }

    @Test
    void showsTheCandidatesWhereThereAreSeveralDataSources(CapturedOutput output) {
        fails(BeanCreationException.class, SeveralDataSources.class);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("there are several and none of them is primary: billing, orders.")
                .contains("Set semaphore.datasource to the name of one of them, or make one of them @Primary.")
                .doesNotContain("NoUniqueBeanDefinitionException");
    }

    @Test
    void showsThePropertyThatDoesNotFit(CapturedOutput output) {
        fails(BeanCreationException.class, Host.class, "semaphore.semaphores.backup.capacity=-1");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("semaphore.semaphores.backup.capacity must be at least 0: -1");
    }

    @Test
    void showsThatTheOrderIsNoNumber(CapturedOutput output) {
        fails(BeanCreationException.class, Host.class, "semaphore.aop.order=first");

        assertThat(output).contains("APPLICATION FAILED TO START").contains("semaphore.aop.order");
    }

    @Test
    void showsWhichDatabasesAreSupported(CapturedOutput output) {
        fails(ApplicationContextException.class, Host.class, "spring.datasource.url=jdbc:hsqldb:mem:unsupported");

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

        fails(ApplicationContextException.class, Host.class, url + ";ACCESS_MODE_DATA=r");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("The database of the semaphores is read-only. The database reports: ")
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

        fails(BeanCreationException.class, Host.class, url + ";ACCESS_MODE_DATA=r", "semaphore.liquibase.enabled=true");

        assertThat(output).contains("The database of the semaphores is read-only. The database reports: ");
    }

    @Test
    void showsThatThePoolIsTooSmall(CapturedOutput output) {
        fails(
                BeanCreationException.class,
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
                BeanCreationException.class,
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
        fails(BeanCreationException.class, FinalMethod.class, "semaphore.liquibase.enabled=true");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("@WithPermits on " + Backup.class.getName() + ".run(): it is final, so no proxy can guard it")
                .containsPattern(
                        "Action:\\R\\RMake it an ordinary method, or use SemaphoreOperations.execute in it\\.");
    }

    @Test
    void showsTheClassThatCannotBeGuarded(CapturedOutput output) {
        fails(
                BeanCreationException.class,
                FinalClass.class,
                "semaphore.liquibase.enabled=true",
                "semaphore.semaphores.backup.capacity=1");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("The class " + FinalBackup.class.getName() + " has @WithPermits methods but is final")
                .contains("Remove final (in Kotlin: make the class open");
    }

    @Test
    void leavesItToOthersToExplainAFinalClassWithoutPermits(CapturedOutput output) {
        fails(BeanCreationException.class, FinalAsyncClass.class, "semaphore.liquibase.enabled=true");

        assertThat(output).doesNotContain("has @WithPermits methods");
    }

    @ParameterizedTest
    @ValueSource(strings = {"false", "true"})
    void showsThatTheDatabaseCannotBeReached(String liquibase, CapturedOutput output) throws IOException {
        int port;
        try (ServerSocket closed = new ServerSocket(0)) {
            port = closed.getLocalPort();
        }

        fails(
                liquibase.equals("true") ? BeanCreationException.class : ApplicationContextException.class,
                Host.class,
                "spring.datasource.url=jdbc:mysql://localhost:" + port + "/app",
                "spring.datasource.hikari.connection-timeout=250",
                "semaphore.liquibase.enabled=" + liquibase);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("The database of the semaphores cannot be reached: Communications link failure")
                .contains("spring.datasource.url")
                .contains("semaphore.enabled=false");
    }

    @Test
    void showsThatTheDatabaseDoesNotLetItIn(CapturedOutput output) {
        String url = "spring.datasource.url=jdbc:h2:mem:password;DB_CLOSE_DELAY=-1";
        Hosts.jdbc().withPropertyValues(url, "spring.datasource.username=sa").run(context -> {});

        fails(
                ApplicationContextException.class,
                Host.class,
                url,
                "spring.datasource.username=sa",
                "spring.datasource.password=wrong");

        assertThat(output).contains("The database of the semaphores cannot be reached: Wrong user name or password");
    }

    @Test
    void showsTheTableOfAnotherApplication(CapturedOutput output) {
        String url = "spring.datasource.url=jdbc:h2:mem:foreign;DB_CLOSE_DELAY=-1";
        Hosts.jdbc().withPropertyValues(url).run(context -> {
            JdbcTemplate jdbc = context.getBean(JdbcTemplate.class);
            jdbc.execute("drop table permit");
            jdbc.execute("create table permit (id bigint primary key, building varchar(100), issued_at date)");
        });

        fails(ApplicationContextException.class, Host.class, url);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("The table 'permit' exists, but is not that of the semaphores")
                .contains("semaphore_id")
                .contains("semaphore.table-prefix")
                .contains("dbsemaphore.tablePrefix");
    }

    @Test
    void showsTheTableOfAnotherApplicationThatIsInTheWayOfTheChangelog(CapturedOutput output) {
        String url = "spring.datasource.url=jdbc:h2:mem:foreign-changelog;DB_CLOSE_DELAY=-1";
        Hosts.jdbcWithoutTables()
                .withPropertyValues(url, "semaphore.enabled=false")
                .run(context -> context.getBean(JdbcTemplate.class)
                        .execute("create table permit (id bigint primary key, building varchar(100))"));

        fails(BeanCreationException.class, Host.class, url, "semaphore.liquibase.enabled=true");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains(
                        "The changelog of the semaphores cannot create the table 'permit', because a table of that name exists")
                .contains("semaphore.table-prefix");
    }

    @Test
    void showsTheTableOfAnotherApplicationThatIsInTheWayOfAnIncludedChangelog(CapturedOutput output) {
        String url = "spring.datasource.url=jdbc:h2:mem:foreign-included;DB_CLOSE_DELAY=-1";
        Hosts.jdbcWithoutTables()
                .withPropertyValues(url, "semaphore.enabled=false")
                .run(context -> context.getBean(JdbcTemplate.class)
                        .execute("create table semaphore (id bigint primary key, building varchar(100))"));

        fails(
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

        fails(ApplicationContextException.class, Host.class, url);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("The table 'capacity_change' lacks the column(s) permits")
                .contains("the changelog of this version of the library has not run");
    }

    @Test
    void showsTheNameThatIsDeclaredNowhere(CapturedOutput output) {
        assertThatExceptionOfType(SemaphoreConfigurationException.class)
                .isThrownBy(() -> run(
                        Misspelt.class,
                        "semaphore.liquibase.enabled=true",
                        "semaphore.semaphores.backup.capacity=1",
                        "semaphore.patterns.[tenant-*].capacity=1"));

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("@WithPermits on " + MisspeltBackup.class.getName() + ".run() names the semaphore 'bakcup'")
                .contains("semaphore.semaphores.bakcup.capacity")
                .contains("semaphore.aop.allow-unknown-names=true")
                .contains("backup");
    }

    @Test
    void startsWithANameThatIsDeclaredNowhereWhereThatIsAllowed() {
        try (ConfigurableApplicationContext started =
                run(Misspelt.class, "semaphore.liquibase.enabled=true", "semaphore.aop.allow-unknown-names=true")) {
            assertThatExceptionOfType(SemaphoreNotFoundException.class)
                    .isThrownBy(() -> started.getBean(MisspeltBackup.class).run());
        }
    }

    @Test
    void startsWithNamesThatAreDeclaredOrMatchAPattern() {
        try (ConfigurableApplicationContext started = run(
                Misspelt.class,
                "semaphore.liquibase.enabled=true",
                "semaphore.semaphores.bakcup.capacity=1",
                "semaphore.patterns.[tenant-*].capacity=1")) {
            started.getBean(MisspeltBackup.class).run();
            started.getBean(MisspeltBackup.class).runForATenant();
        }
    }

    @Test
    void startsWithANameThatIsInTheDatabaseOnly() {
        String url = "spring.datasource.url=jdbc:h2:mem:created-by-hand;DB_CLOSE_DELAY=-1";
        Hosts.jdbc().withPropertyValues(url).run(context -> {
            context.getBean(SemaphoreAdmin.class).create("bakcup", 1);
            context.getBean(SemaphoreAdmin.class).create("tenant-42", 1);
        });

        try (ConfigurableApplicationContext started = run(Misspelt.class, url)) {
            started.getBean(MisspeltBackup.class).run();
        }
    }

    private static ConfigurableApplicationContext run(Class<?> host, String... properties) {
        List<String> all = new ArrayList<>(List.of(properties));
        all.add("spring.main.banner-mode=off");
        return new SpringApplicationBuilder(host)
                .web(WebApplicationType.NONE)
                .properties(all.toArray(String[]::new))
                .run();
    }

    /** {@code BeanCreationException} where a bean fails, {@code ApplicationContextException} where the engine does, later. */
    private static void fails(Class<? extends Exception> type, Class<?> host, String... properties) {
        List<String> all = new ArrayList<>(List.of(properties));
        all.add("spring.main.banner-mode=off");
        assertThatExceptionOfType(type)
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

    @Import(Host.class)
    static class FinalClass {

        @Bean
        FinalBackup backup() {
            return new FinalBackup();
        }
    }

    static final class FinalBackup {

        @WithPermits("backup")
        public void run() {}
    }

    @EnableAsync(proxyTargetClass = true)
    static class FinalAsyncClass {

        @Bean
        FinalAsync async() {
            return new FinalAsync();
        }
    }

    static final class FinalAsync {

        @Async
        public void run() {}
    }

    @Import(Host.class)
    static class Misspelt {

        @Bean
        MisspeltBackup backup() {
            return new MisspeltBackup();
        }
    }

    static class MisspeltBackup {

        @WithPermits("bakcup")
        public void run() {}

        @WithPermits("tenant-42")
        public void runForATenant() {}

        @WithPermits("tenant-#{#p0}")
        public void runForAnyTenant(long id) {}
    }

    @ImportAutoConfiguration({
        DataSourceAutoConfiguration.class,
        LiquibaseAutoConfiguration.class,
        SemaphoreAutoConfiguration.class
    })
    static class LiquibaseHost {}

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
