package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.PermitsUnavailableException;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.annotation.WithPermits;
import io.dbsemaphore.engine.DatabaseUnreachableException;
import io.dbsemaphore.engine.SemaphoreEngine;
import java.io.IOException;
import java.net.ServerSocket;
import java.util.UUID;
import javax.sql.DataSource;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.autoconfigure.EnableAutoConfiguration;
import org.springframework.boot.jdbc.autoconfigure.DataSourceAutoConfiguration;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.context.annotation.Bean;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.DriverManagerDataSource;
import org.springframework.transaction.PlatformTransactionManager;

/** The pool of {@code semaphore.datasource.url}. */
@ExtendWith(OutputCaptureExtension.class)
class OwnPoolTests {

    private static final String CAPACITY = "semaphore.semaphores.backup.capacity=1";

    private final String database = "jdbc:h2:mem:" + UUID.randomUUID() + ";DB_CLOSE_DELAY=-1";
    private final String url = "semaphore.datasource.url=" + database;

    @Test
    void limitsAnApplicationWithoutADataSource() {
        try (ConfigurableApplicationContext host = Hosts.start(WithoutDataSource.class, url, CAPACITY);
                PermitGrant grant = host.getBean(SemaphoreTemplate.class).acquire(AcquireRequest.of("backup"))) {
            assertThat(grant.isHeld()).isTrue();
            assertThatThrownBy(() -> host.getBean(Backup.class).run()).isInstanceOf(PermitsUnavailableException.class);
            assertThat(held()).isEqualTo(1);
        }
    }

    @Test
    void isNoBeanForOthers() {
        try (ConfigurableApplicationContext host = Hosts.start(WithoutDataSource.class, url, CAPACITY)) {
            assertThat(host.getBeanNamesForType(DataSource.class)).isEmpty();
            assertThat(host.getBeanNamesForType(JdbcTemplate.class)).isEmpty();
            assertThat(host.getBeanNamesForType(PlatformTransactionManager.class))
                    .isEmpty();
        }
    }

    @Test
    void isWhereTheSemaphoresAreAlsoBesideADataSource() {
        try (ConfigurableApplicationContext host =
                Hosts.start(WithDataSource.class, url, CAPACITY, "spring.liquibase.enabled=false")) {
            host.getBean(SemaphoreTemplate.class).acquire(AcquireRequest.of("backup"));

            assertThat(held()).isEqualTo(1);
            assertThat(host.getBean(JdbcTemplate.class)
                            .queryForList("select lower(table_name) from information_schema.tables", String.class))
                    .isNotEmpty()
                    .doesNotContain("permit");
        }
    }

    @Test
    void hasRoomForTheLibraryAndTakesTheSettingsOfHikari() {
        try (ConfigurableApplicationContext host = Hosts.start(
                WithoutDataSource.class,
                url,
                CAPACITY,
                "semaphore.jdbc.max-connections=3",
                "semaphore.datasource.username=sa")) {
            HikariDataSource pool = pool(host);
            assertThat(pool.getMaximumPoolSize()).isEqualTo(5);
            assertThat(pool.getMinimumIdle()).isEqualTo(1);
            assertThat(pool.getUsername()).isEqualTo("sa");
        }
        try (ConfigurableApplicationContext host = Hosts.start(
                WithoutDataSource.class,
                url,
                CAPACITY,
                "semaphore.datasource.username=sa",
                "semaphore.datasource.hikari.maximum-pool-size=9",
                "semaphore.datasource.hikari.pool-name=permits",
                "semaphore.datasource.hikari.data-source-properties.LOCK_TIMEOUT=1234")) {
            HikariDataSource pool = pool(host);
            assertThat(pool.getMaximumPoolSize()).isEqualTo(9);
            assertThat(pool.getPoolName()).isEqualTo("permits");
            assertThat(pool.getDataSourceProperties()).containsEntry("LOCK_TIMEOUT", "1234");
        }
    }

    @Test
    void isClosedAfterTheEngine() {
        HikariDataSource pool;
        try (ConfigurableApplicationContext host = Hosts.start(WithoutDataSource.class, url, CAPACITY)) {
            pool = pool(host);
            host.getBean(SemaphoreTemplate.class)
                    .acquire(AcquireRequest.of("backup").withKeepAlive(true));
            assertThat(pool.isClosed()).isFalse();
        }
        assertThat(pool.isClosed()).isTrue();
        assertThat(held()).as("released while the pool was open").isZero();
    }

    @Test
    void staysOpenWhileTheContextIsStopped() {
        try (ConfigurableApplicationContext host = Hosts.start(WithoutDataSource.class, url, CAPACITY)) {
            host.stop();
            host.start();

            host.getBean(Backup.class).run();
        }
    }

    @Test
    void createsItsTablesByLiquibase() {
        try (ConfigurableApplicationContext host =
                Hosts.start(WithoutDataSource.class, url, CAPACITY, "semaphore.liquibase.enabled=true")) {
            host.getBean(Backup.class).run();

            assertThat(jdbc().queryForList("select id from databasechangelog")).isNotEmpty();
        }
    }

    @Test
    void isRefusedBesideTheNameOfABean(CapturedOutput output) {
        Hosts.assertStartFails(
                BeanCreationException.class, WithoutDataSource.class, url, "semaphore.datasource=billing");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("semaphore.datasource=billing names a bean, and semaphore.datasource.url a database")
                .contains("Remove one of the two properties.");
    }

    @Test
    void needsItsUrl() {
        assertThatThrownBy(() -> Hosts.start(
                        WithDataSource.class,
                        "semaphore.datasource.username=sa",
                        "semaphore.datasource.password=secret",
                        "semaphore.datasource.hikari.maximum-pool-size=9"))
                .isInstanceOf(SemaphoreConfigurationException.class)
                .hasMessageStartingWith(
                        "[semaphore.datasource.username, semaphore.datasource.password, semaphore.datasource.hikari]"
                                + " would have no effect without semaphore.datasource.url.")
                .hasMessageNotContaining("secret");
    }

    @Test
    void isProposedToAnApplicationWithoutADatabase(CapturedOutput output) {
        Hosts.assertStartFails(
                BeanCreationException.class,
                WithDataSource.class,
                url,
                "spring.liquibase.enabled=false",
                "spring.datasource.embedded-database-connection=none");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("add the dependency com.h2database:h2 instead")
                .contains("spring.autoconfigure.exclude=" + DataSourceAutoConfiguration.class.getName())
                .contains("semaphore.datasource.url");
    }

    @Test
    void tellsWhichDriverIsMissing(CapturedOutput output) {
        Hosts.assertStartFails(
                BeanCreationException.class,
                WithoutDataSource.class,
                "semaphore.datasource.url=jdbc:sqlserver://server;password=secret");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains(
                        "needs the JDBC driver com.microsoft.sqlserver.jdbc.SQLServerDriver, which is not on the class path.")
                .doesNotContain("secret");
    }

    @Test
    void tellsThatNoDriverIsKnown(CapturedOutput output) {
        Hosts.assertStartFails(
                BeanCreationException.class, WithoutDataSource.class, "semaphore.datasource.url=jdbc:unheard:of");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("semaphore.datasource.url is that of an unknown database.")
                .contains("semaphore.datasource.driver-class-name");
    }

    @Test
    void tellsThatAnUrlOfR2dbcIsNotOne(CapturedOutput output) {
        Hosts.assertStartFails(
                BeanCreationException.class, WithoutDataSource.class, "semaphore.datasource.url=r2dbc:h2:mem:///x");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("semaphore.datasource.url must begin with jdbc:");
    }

    @Test
    void namesItsOwnPropertyWhereItsDatabaseCannotBeReached(CapturedOutput output) throws IOException {
        int port;
        try (ServerSocket closed = new ServerSocket(0)) {
            port = closed.getLocalPort();
        }

        Hosts.assertStartFails(
                DatabaseUnreachableException.class,
                WithoutDataSource.class,
                "semaphore.datasource.url=jdbc:mysql://localhost:" + port + "/app",
                "semaphore.datasource.hikari.connection-timeout=250");

        assertThat(output)
                .contains("cannot be reached: Communications link failure")
                .contains("or correct semaphore.datasource.url.")
                .doesNotContain("spring.datasource");
    }

    private static HikariDataSource pool(ConfigurableApplicationContext host) {
        assertThat(host.getBeanNamesForType(SemaphoreEngine.class)).hasSize(1);
        return (HikariDataSource) host.getBean(OwnPool.class).dataSource();
    }

    private JdbcTemplate jdbc() {
        return new JdbcTemplate(new DriverManagerDataSource(database));
    }

    private int held() {
        return jdbc().queryForList("select p.id from permit p join semaphore s on s.id = p.semaphore_id"
                        + " where p.state = 'ACQUIRED' and s.name = 'backup'")
                .size();
    }

    @EnableAutoConfiguration(exclude = DataSourceAutoConfiguration.class)
    static class WithoutDataSource {

        @Bean
        Backup backup() {
            return new Backup();
        }
    }

    @EnableAutoConfiguration
    static class WithDataSource {}

    static class Backup {

        @WithPermits("backup")
        public void run() {}
    }
}
