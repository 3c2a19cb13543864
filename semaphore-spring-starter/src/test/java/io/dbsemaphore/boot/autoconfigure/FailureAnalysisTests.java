package io.dbsemaphore.boot.autoconfigure;

import static io.dbsemaphore.boot.autoconfigure.Hosts.assertStartFails;
import static org.assertj.core.api.Assertions.assertThat;

import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.SemaphoreTemplate;
import java.io.IOException;
import java.net.ServerSocket;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.autoconfigure.ImportAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContextException;
import org.springframework.context.annotation.Bean;
import org.springframework.context.annotation.Import;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.jdbc.support.JdbcTransactionManager;
import org.springframework.transaction.support.TransactionTemplate;

/** The analyses of failed starts. */
@ExtendWith(OutputCaptureExtension.class)
class FailureAnalysisTests {

    @Test
    void showsTheCandidatesWhereThereAreSeveralDataSources(CapturedOutput output) {
        assertStartFails(BeanCreationException.class, SeveralDataSources.class);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("there are several and none of them is primary: billing, orders.")
                .contains(
                        "Annotate a single one with @SemaphoreDataSource, set semaphore.datasource to its name, or make it"
                                + " @Primary.")
                .doesNotContain("NoUniqueBeanDefinitionException");
    }

    @Test
    void showsThePropertyThatDoesNotFit(CapturedOutput output) {
        assertStartFails(
                BeanCreationException.class, Hosts.OnDataSource.class, "semaphore.semaphores.backup.capacity=-1");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("semaphore.semaphores.backup.capacity must be at least 0: -1");
    }

    @Test
    void showsThatTheOrderIsNoNumber(CapturedOutput output) {
        assertStartFails(BeanCreationException.class, Hosts.OnDataSource.class, "semaphore.aop.order=first");

        assertThat(output).contains("APPLICATION FAILED TO START").contains("semaphore.aop.order");
    }

    @Test
    void showsWhichDatabasesAreSupported(CapturedOutput output) {
        assertStartFails(
                ApplicationContextException.class,
                Hosts.OnDataSource.class,
                "spring.datasource.url=jdbc:hsqldb:mem:unsupported");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("Semaphores are not supported on HSQL Database Engine")
                .contains("It accepts SELECT ... FOR UPDATE and locks nothing by it")
                .contains("Set semaphore.datasource")
                .contains("MySQL 8.4+, MariaDB 10.11+, PostgreSQL 15+ and H2 2.4")
                .contains("semaphore.enabled=false");
    }

    @Test
    void showsHowToGetAwayFromAReadOnlyDatabase(CapturedOutput output, @TempDir Path directory) {
        String url = "spring.datasource.url=jdbc:h2:file:" + directory.resolve("replica");
        Hosts.jdbc().withPropertyValues(url).run(context -> assertThat(context).hasNotFailed());

        assertStartFails(ApplicationContextException.class, Hosts.OnDataSource.class, url + ";ACCESS_MODE_DATA=r");

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

        assertStartFails(
                BeanCreationException.class,
                Hosts.OnDataSource.class,
                url + ";ACCESS_MODE_DATA=r",
                "semaphore.liquibase.enabled=true");

        assertThat(output).contains("The database of the semaphores is read-only. The database reports: ");
    }

    @Test
    void showsThatThePoolIsTooSmall(CapturedOutput output) {
        assertStartFails(
                BeanCreationException.class,
                AcquiresInATransaction.class,
                "spring.datasource.hikari.maximum-pool-size=1",
                "spring.datasource.hikari.connection-timeout=2000",
                "semaphore.liquibase.enabled=true",
                "semaphore.semaphores.backup.capacity=1");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .containsPattern("The pool had no connection for the semaphores: .*total=1, active=1")
                .contains("Raise spring.datasource.hikari.maximum-pool-size")
                .contains("semaphore.jdbc.max-connections");
    }

    @Test
    void leavesItToOthersToExplainThatThePoolIsTooSmallForThem(CapturedOutput output) {
        assertStartFails(
                BeanCreationException.class,
                ConnectsInATransaction.class,
                "spring.datasource.hikari.maximum-pool-size=1",
                "spring.datasource.hikari.connection-timeout=250",
                "semaphore.liquibase.enabled=true");

        assertThat(output)
                .contains("total=1, active=1")
                .doesNotContain("The pool had no connection for the semaphores");
    }

    @ParameterizedTest
    @ValueSource(strings = {"false", "true"})
    void showsThatTheDatabaseCannotBeReached(String liquibase, CapturedOutput output) throws IOException {
        int port;
        try (ServerSocket closed = new ServerSocket(0)) {
            port = closed.getLocalPort();
        }

        assertStartFails(
                liquibase.equals("true") ? BeanCreationException.class : ApplicationContextException.class,
                Hosts.OnDataSource.class,
                "spring.datasource.url=jdbc:mysql://localhost:" + port + "/app",
                "spring.datasource.hikari.connection-timeout=250",
                "semaphore.liquibase.enabled=" + liquibase);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("cannot be reached: Communications link failure (ConnectException: Connection refused)")
                .contains("spring.datasource.url")
                .contains("semaphore.enabled=false");
    }

    @Test
    void showsThatTheDatabaseDoesNotLetItIn(CapturedOutput output) {
        String url = "spring.datasource.url=jdbc:h2:mem:password;DB_CLOSE_DELAY=-1";
        Hosts.jdbc().withPropertyValues(url, "spring.datasource.username=sa").run(context -> {});

        assertStartFails(
                ApplicationContextException.class,
                Hosts.OnDataSource.class,
                url,
                "spring.datasource.username=sa",
                "spring.datasource.password=wrong");

        assertThat(output)
                .contains(
                        "The database of the semaphores, jdbc:h2:mem:password, cannot be reached: Wrong user name or password");
    }

    @Import(Hosts.OnDataSource.class)
    static class AcquiresInATransaction {

        @Bean
        Object startUp(SemaphoreTemplate semaphores, DataSource dataSource) {
            return new TransactionTemplate(new JdbcTransactionManager(dataSource))
                    .execute(status -> semaphores.acquire(AcquireRequest.of("backup")));
        }
    }

    @Import(Hosts.OnDataSource.class)
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
