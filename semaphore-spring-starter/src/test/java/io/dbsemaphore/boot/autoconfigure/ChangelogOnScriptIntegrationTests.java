package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatThrownBy;

import com.example.orders.OrdersApplication;
import io.dbsemaphore.testing.Concurrently;
import io.dbsemaphore.testing.Slow;
import io.dbsemaphore.testing.TestDatabase;
import java.util.concurrent.Future;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.TimeoutException;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.extension.ExtendWith;
import org.springframework.boot.builder.SpringApplicationBuilder;
import org.springframework.boot.test.system.CapturedOutput;
import org.springframework.boot.test.system.OutputCaptureExtension;

/** The changelog that runs on tables which the SQL script has made, or which it was told about. */
@ExtendWith(OutputCaptureExtension.class)
@Slow
class ChangelogOnScriptIntegrationTests {

    private static final String INCLUDED = "spring.liquibase.change-log=classpath:com/example/orders/changelog.xml";

    private final TestDatabase.Schema database = TestDatabase.create();

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void saysThatTheScriptHasMadeTheTablesOfItsOwnRun(CapturedOutput output) {
        makeTablesByScript();

        assertThatThrownBy(() -> start("semaphore.liquibase.enabled=true")).isNotNull();

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains(
                        "The changelog of the semaphores cannot create the table 'semaphore', because a table of that name exists")
                .contains("remove the include of db/dbsemaphore/changelog.xml, or semaphore.liquibase.enabled")
                .contains("liquibase changelog-sync");
    }

    @Test
    void saysWhatToDoWhereTheApplicationIncludesIt(CapturedOutput output) {
        makeTablesByScript();

        assertThatThrownBy(() -> start(INCLUDED)).isNotNull();

        assertThat(output)
                .contains("APPLICATION FAILED TO START")
                .contains(
                        "The changelog of the semaphores cannot create the table 'semaphore', because a table of that name exists")
                .contains("If the SQL script of the library has made it")
                .contains("liquibase changelog-sync")
                .contains("If it belongs to another application: Choose a prefix");
    }

    private void makeTablesByScript() {
        start("semaphore.jdbc.initialize-schema=always", "spring.liquibase.enabled=false");
    }

    private void start(String... properties) {
        new SpringApplicationBuilder(OrdersApplication.class)
                .properties(
                        "spring.datasource.url=" + database.jdbcUrl(),
                        "spring.datasource.username=" + database.username(),
                        "spring.datasource.password=" + database.password(),
                        "spring.main.web-application-type=none",
                        "spring.main.banner-mode=off",
                        "spring.flyway.enabled=false",
                        "semaphore.semaphores.orders.capacity=1",
                        "spring.liquibase.enabled=" + !properties[0].startsWith("semaphore."))
                .properties(properties)
                .run()
                .close();
    }

    /** Of instances that start at the same time on an empty database, none takes the tables of another one for the script's. */
    @Test
    void waitsForAnotherInstanceThatRunsTheChangelog() throws Exception {
        start(INCLUDED);
        database.jdbc().execute("create table records as select * from DATABASECHANGELOG");
        database.jdbc().execute("delete from DATABASECHANGELOG");
        database.jdbc().update("update DATABASECHANGELOGLOCK set LOCKED = ?, LOCKGRANTED = current_timestamp", true);

        Future<?> waiting = Concurrently.async(() -> {
            start("semaphore.liquibase.enabled=true");
            return true;
        });
        assertThatThrownBy(() -> waiting.get(5, TimeUnit.SECONDS)).isInstanceOf(TimeoutException.class);
        database.jdbc().execute("insert into DATABASECHANGELOG select * from records");
        database.jdbc().update("update DATABASECHANGELOGLOCK set LOCKED = ?, LOCKGRANTED = null", false);

        assertThat(waiting.get(60, TimeUnit.SECONDS)).isEqualTo(true);
    }

    @Test
    void findsNothingToDoAgainWhereItMadeTheTables() {
        start(INCLUDED);
        start(INCLUDED, "semaphore.jdbc.initialize-schema=always");
    }
}
