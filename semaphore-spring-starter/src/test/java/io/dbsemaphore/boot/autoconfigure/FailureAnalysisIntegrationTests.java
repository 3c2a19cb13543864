package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.example.orders.OrdersApplication;
import io.dbsemaphore.engine.DatabaseNotWritableException;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContextException;

/** The analysis of a start on a server that rejects writes although all tables exist. */
@ExtendWith(OutputCaptureExtension.class)
class FailureAnalysisIntegrationTests {

    private static final String READ_ONLY = "The database of the semaphores is read-only. The database reports: ";

    private final TestDatabase.Schema database = TestDatabase.create();

    @BeforeEach
    void migrate() {
        database.runChangelog(Map.of());
    }

    @AfterEach
    void drop() {
        database.close();
    }

    /** MariaDB's servers write no binary log unless they are told to. */
    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void showsHowToGetAwayFromStatementsInTheBinaryLog(CapturedOutput output) {
        fails(
                database.jdbcUrl(),
                "spring.datasource.hikari.connection-init-sql=set session binlog_format = 'STATEMENT'");

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains(
                        "The database of the semaphores has binlog_format=STATEMENT and rejects writes at READ COMMITTED")
                .contains("set global binlog_format = 'ROW';");
    }

    @Test
    @EnabledOnDatabase(DatabaseKind.MYSQL)
    void showsHowToGetAwayFromAReplica(CapturedOutput output) {
        database.jdbc().execute("set global super_read_only = 1");
        try {
            fails(database.jdbcUrl());
        } finally {
            database.jdbc().execute("set global super_read_only = 0");
            database.jdbc().execute("set global read_only = 0");
        }

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains(READ_ONLY + "The MySQL server is running with the --super-read-only option")
                .contains("Connect to the primary: spring.datasource.url");
    }

    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
    void showsThatTheConnectionsAreReadOnly(CapturedOutput output) {
        fails(database.jdbcUrl(), "spring.datasource.hikari.read-only=true");

        assertThat(output).contains(READ_ONLY).contains("no spring.datasource.hikari.read-only=true");
    }

    @Test
    @EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB})
    void showsThatTheUserHasNoRightToTheDatabase(CapturedOutput output) {
        String user = "stranger_" + database.name().hashCode();
        database.jdbc().execute("create user '%s'@'%%' identified by 'stranger'".formatted(user));
        try {
            Hosts.assertStartFails(
                    ApplicationContextException.class,
                    Hosts.OnDataSource.class,
                    "spring.datasource.url=" + database.jdbcUrl(),
                    "spring.datasource.username=" + user,
                    "spring.datasource.password=stranger",
                    "spring.datasource.hikari.connection-timeout=250");
        } finally {
            database.jdbc().execute("drop user '%s'@'%%'".formatted(user));
        }

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("cannot be reached: ")
                .contains("The user has no right to a database of that name. Grant it the privileges on that database");
    }

    private void fails(String url, String... properties) {
        assertThatExceptionOfType(DatabaseNotWritableException.class)
                .isThrownBy(() -> Hosts.application(
                                OrdersApplication.class,
                                "spring.datasource.url=" + url,
                                "spring.datasource.username=" + database.username(),
                                "spring.datasource.password=" + database.password(),
                                "spring.main.web-application-type=none",
                                "spring.liquibase.enabled=false")
                        .properties(properties)
                        .run());
    }
}
