package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.example.orders.OrdersApplication;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.EnabledOnDatabase;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.cluster.GroupReplication;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;
import org.springframework.context.ConfigurableApplicationContext;

/** A MySQL server may demand a primary key of each table, and that which Liquibase makes for itself has none. */
@Slow
@EnabledOnDatabase(DatabaseKind.MYSQL)
@ExtendWith(OutputCaptureExtension.class)
class PrimaryKeyDemandIntegrationTests {

    private static final String[] OWN_CHANGELOG = {
        "spring.liquibase.enabled=false", "semaphore.liquibase.enabled=true", "spring.jpa.hibernate.ddl-auto=update"
    };
    private static final String REQUIRED =
            "spring.datasource.hikari.connection-init-sql=set session sql_require_primary_key = ON";

    @Test
    void isMetByTheChangelogThatTheLibraryRuns() {
        try (TestDatabase.Schema database = TestDatabase.create()) {
            String[] settings = {OWN_CHANGELOG[0], OWN_CHANGELOG[1], OWN_CHANGELOG[2], REQUIRED};
            start(database, settings).close();
            start(database, settings).close(); // finds that all is done
        }
    }

    @Test
    void isExplainedWhereTheApplicationRunsTheChangelog(CapturedOutput output) {
        try (TestDatabase.Schema database = TestDatabase.create()) {
            assertThatExceptionOfType(BeanCreationException.class)
                    .isThrownBy(() -> start(
                            database,
                            "spring.liquibase.change-log=classpath:com/example/orders/changelog.xml",
                            REQUIRED));
        }
        assertExplained(output);
    }

    @Test
    void ofGroupReplicationIsMetAndExplained(CapturedOutput output) {
        try (GroupReplication group = GroupReplication.start()) {
            TestDatabase.Schema database = group.schema(1);
            start(database, OWN_CHANGELOG).close();

            Stream.of(
                            "DATABASECHANGELOG",
                            "DATABASECHANGELOGLOCK",
                            "customer_order",
                            "permit",
                            "permit_request",
                            "semaphore",
                            "semaphore_instance",
                            "semaphore_waiter",
                            "semaphore_share",
                            "capacity_change")
                    .forEach(table -> database.jdbc().execute("drop table " + table));
            assertThatExceptionOfType(BeanCreationException.class)
                    .isThrownBy(() ->
                            start(database, "spring.liquibase.change-log=classpath:com/example/orders/changelog.xml"));
        }
        assertExplained(output);
    }

    private static void assertExplained(CapturedOutput output) {
        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains("The MySQL server requires a primary key for each table")
                .contains("set persist sql_generate_invisible_primary_key = ON;");
    }

    private static ConfigurableApplicationContext start(TestDatabase.Schema database, String... properties) {
        List<Object> all = new ArrayList<>(List.of(
                "spring.datasource.url=" + database.jdbcUrl(),
                "spring.datasource.username=" + database.username(),
                "spring.datasource.password=" + database.password(),
                "semaphore.semaphores.orders.capacity=1"));
        all.addAll(List.of(properties));
        return Hosts.start(OrdersApplication.class, all.toArray());
    }
}
