package io.dbsemaphore.boot.autoconfigure;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.example.ledger.LedgerApplication;
import io.dbsemaphore.testing.TestDatabase;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Locale;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.springframework.beans.factory.BeanCreationException;
import org.springframework.context.ConfigurableApplicationContext;
import org.springframework.core.io.ClassPathResource;

/** The rows of the host matrix in which the database matters: migrations, validation, a prefix. */
class HostMatrixIntegrationTests {

    private static final String VALIDATE = "spring.jpa.hibernate.ddl-auto=validate";

    private final TestDatabase.Schema database = TestDatabase.create();
    private ConfigurableApplicationContext host;

    @AfterEach
    void stop() {
        if (host != null) {
            host.close();
        }
        database.close();
    }

    @Test
    void defaultScanning() {
        host = Hosts.orders(onTheDatabase());

        AtHome.assertIn(host);
    }

    @Test
    void jdbcTemplateOnly() {
        host = Hosts.start(
                LedgerApplication.class,
                onTheDatabase(
                        "spring.liquibase.enabled=false",
                        "spring.sql.init.mode=always",
                        "spring.sql.init.schema-locations=classpath:com/example/ledger/schema.sql",
                        "semaphore.liquibase.enabled=true"));

        AtHome.assertIn(host);
    }

    @Test
    void ownLiquibaseChangelogWithOursIncluded() {
        host = Hosts.orders(onTheDatabase());

        AtHome.assertIn(host);
        assertThat(database.jdbc()
                        .queryForList("select filename from DATABASECHANGELOG order by orderexecuted", String.class))
                .contains("com/example/orders/own-changelog.xml", "db/dbsemaphore/changelog.xml");
    }

    @Test
    void ownFlywayMigrationsWithOurScript(@TempDir Path migrations) throws IOException {
        Files.writeString(
                migrations.resolve("V1__orders.sql"),
                "create table customer_order (id bigint not null primary key, customer_name varchar(255));");
        Files.writeString(
                migrations.resolve("V2__semaphores.sql"),
                new ClassPathResource("db/dbsemaphore/sql/%s.sql"
                                .formatted(database.kind().name().toLowerCase(Locale.ROOT)))
                        .getContentAsString(StandardCharsets.UTF_8));

        host = Hosts.orders(onTheDatabase(
                "spring.liquibase.enabled=false",
                "spring.flyway.enabled=true",
                "spring.flyway.locations=filesystem:" + migrations,
                VALIDATE));

        AtHome.assertIn(host);
        String quote = database.kind().isMySqlFamily() ? "`" : "\"";
        String migrated = "select ~version~ from ~flyway_schema_history~ where ~type~ = 'SQL'".replace("~", quote);
        assertThat(database.jdbc().queryForList(migrated, String.class)).containsExactlyInAnyOrder("1", "2");
    }

    @Test
    void tablesMadeByAScriptOfSpringBootAtEachStart() {
        Object[] properties = onTheDatabase(
                "spring.liquibase.enabled=false",
                "spring.sql.init.mode=always",
                "spring.sql.init.schema-locations=classpath:com/example/ledger/schema.sql,"
                        + "classpath:db/dbsemaphore/sql/%s.sql"
                                .formatted(database.kind().name().toLowerCase(Locale.ROOT)));
        Hosts.start(LedgerApplication.class, properties).close();

        host = Hosts.start(LedgerApplication.class, properties);

        AtHome.assertIn(host);
    }

    @Test
    void ddlAutoValidate() {
        host = Hosts.orders(onTheDatabase(VALIDATE));

        AtHome.assertIn(host);
    }

    @Test
    void ddlAutoValidateStillFindsWhatTheApplicationLacks() {
        assertThatExceptionOfType(BeanCreationException.class)
                .isThrownBy(() -> Hosts.orders(
                        onTheDatabase("spring.liquibase.change-log=classpath:db/dbsemaphore/changelog.xml", VALIDATE)))
                .havingRootCause()
                .withMessageContaining("missing table [customer_order]");
    }

    @Test
    void tablePrefix() {
        host = Hosts.orders(onTheDatabase(
                "spring.liquibase.parameters.[dbsemaphore.tablePrefix]=app_", "semaphore.jdbc.table-prefix=app_"));

        AtHome.assertIn(host);
        assertThat(database.jdbc().queryForList("select id from app_permit")).isNotEmpty();
    }

    private Object[] onTheDatabase(String... properties) {
        List<Object> all = new ArrayList<>(List.of(
                "spring.datasource.url=" + database.jdbcUrl(),
                "spring.datasource.username=" + database.username(),
                "spring.datasource.password=" + database.password(),
                "semaphore.semaphores.orders.capacity=1"));
        all.addAll(Arrays.asList(properties));
        return all.toArray();
    }
}
