package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.example.orders.OrdersApplication;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.engine.DatabaseNotWritableException;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.TestDatabase;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ApplicationContextException;
import org.springframework.context.ConfigurableApplicationContext;

/** The analysis of a start with a user of the database that lacks one of the privileges of docs/databases.md. */
@EnabledOnDatabase({DatabaseKind.MYSQL, DatabaseKind.MARIADB, DatabaseKind.POSTGRESQL})
@ExtendWith(OutputCaptureExtension.class)
class MissingPrivilegeIntegrationTests {

    private static final String PASSWORD = "lacks-1-Privilege";

    private static final Map<String, String> PRIVILEGES = Map.of(
            "semaphore", "select, insert, update",
            "permit_request", "select, insert, update",
            "permit", "select, insert, update",
            "semaphore_instance", "select, insert, update",
            "semaphore_waiter", "select, insert, update, delete",
            "semaphore_share", "select, insert, update, delete",
            "capacity_change", "select, insert");

    private final TestDatabase.Schema database = TestDatabase.create();
    private final String name = "lacks_" + database.name().replaceFirst(".*_(?=\\d+_\\d+$)", "");
    private final boolean postgresql = database.kind() == DatabaseKind.POSTGRESQL;
    private final String user = postgresql ? name : "'" + name + "'@'%'";

    @BeforeEach
    void createUser() {
        database.runChangelog(Map.of());
        execute(
                postgresql
                        ? "create role %s login password '%s'".formatted(user, PASSWORD)
                        : "create user %s identified by '%s'".formatted(user, PASSWORD));
        PRIVILEGES.forEach((table, granted) -> execute("grant " + granted + " on " + qualified(table) + " to " + user));
    }

    @AfterEach
    void dropUser() {
        if (postgresql) {
            execute("drop owned by " + user);
        }
        execute((postgresql ? "drop role " : "drop user ") + user);
        database.close();
    }

    @ParameterizedTest
    @CsvSource({
        "select, permit",
        "update, semaphore",
        "insert, semaphore",
        "insert, permit_request",
        "update, permit_request",
        "insert, permit",
        "update, permit",
        "insert, semaphore_instance",
        "update, semaphore_instance",
        "insert, semaphore_waiter",
        "update, semaphore_waiter",
        "delete, semaphore_waiter",
        "insert, semaphore_share",
        "update, semaphore_share",
        "delete, semaphore_share",
        "insert, capacity_change"
    })
    void isNamedWithItsTable(String privilege, String table, CapturedOutput output) {
        execute("revoke " + privilege + " on " + qualified(table) + " from " + user);

        assertThatExceptionOfType(ApplicationContextException.class)
                .isThrownBy(this::start)
                .withCauseInstanceOf(DatabaseNotWritableException.class);

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .containsPattern(
                        postgresql
                                ? "The database reports: .*permission denied for table " + table + "\\b"
                                : "The database reports: .*(?i:" + privilege + ") command denied to user .*\\b" + table
                                        + "\\b")
                .contains("grant " + PRIVILEGES.get(table) + " on " + table + " to ...;")
                .doesNotContain("\tat io.dbsemaphore");
    }

    @Test
    void ofDeletesOfHistoryIsNotMissedAtStart() {
        try (ConfigurableApplicationContext context = start()) {
            assertThat(context.getBean(SemaphoreTemplate.class)).isNotNull();
        }
    }

    private ConfigurableApplicationContext start() {
        return Hosts.start(
                OrdersApplication.class,
                "spring.datasource.url=" + database.jdbcUrl(),
                "spring.datasource.username=" + name,
                "spring.datasource.password=" + PASSWORD,
                "spring.liquibase.enabled=false",
                "semaphore.semaphores.orders.capacity=1");
    }

    private String qualified(String table) {
        return postgresql ? table : database.name() + "." + table;
    }

    private void execute(String sql) {
        database.jdbc().execute(sql);
    }
}
