package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.persistence.unit.Sql;
import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestSettings;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import org.springframework.core.io.ByteArrayResource;
import org.springframework.core.io.ClassPathResource;
import org.springframework.jdbc.core.JdbcTemplate;
import org.springframework.jdbc.datasource.init.ResourceDatabasePopulator;

/** The SQL script creates the same schema as the changelog, on the database of this run. */
class SqlScriptIntegrationTests {

    private static final List<String> TABLES = List.of(
            "semaphore",
            "permit_request",
            "permit",
            "semaphore_instance",
            "semaphore_waiter",
            "semaphore_share",
            "capacity_change");

    @ParameterizedTest
    @ValueSource(strings = {"", "app_"})
    void createsTheSchemaOfTheChangelog(String prefix) {
        try (TestDatabase.Schema byChangelog = TestDatabase.create();
                TestDatabase.Schema byScript = TestDatabase.create()) {
            byChangelog.runChangelog(Map.of("dbsemaphore.tablePrefix", prefix));
            runScript(byScript, prefix);

            assertThat(describe(byScript, prefix))
                    .hasSizeGreaterThanOrEqualTo(TABLES.size())
                    .isEqualTo(describe(byChangelog, prefix));
        }
    }

    /** As with {@code spring.sql.init.mode=always}, which runs it at every start. */
    @Test
    void runsAgainWithoutChangingExistingObjects() {
        try (TestDatabase.Schema schema = TestDatabase.create()) {
            runScript(schema);
            List<String> first = describe(schema);
            schema.jdbc().update("""
                    insert into semaphore (id, name, capacity, fence, created_at, updated_at)
                    values (1, 'backup', 3, 1, '2026-01-01 00:00:00', '2026-01-01 00:00:00')""");

            runScript(schema);

            assertThat(describe(schema).stream().filter(line -> !line.startsWith("INSERT INTO")))
                    .isEqualTo(first);
            assertThat(schema.jdbc().queryForObject("select capacity from semaphore", Integer.class))
                    .isEqualTo(3);
        }
    }

    /** A script that ended halfway, or one of an older version: the next run adds what is missing. */
    @Test
    void addsWhatIsMissing() {
        try (TestDatabase.Schema whole = TestDatabase.create();
                TestDatabase.Schema part = TestDatabase.create()) {
            runScript(whole);
            runScript(part);
            JdbcTemplate jdbc = part.jdbc();
            jdbc.execute("alter table permit drop column checks");
            jdbc.execute("alter table permit_request drop column label");
            jdbc.execute("alter table permit_request drop column share_path");
            jdbc.execute("alter table semaphore_waiter drop column shares");
            jdbc.execute(
                    switch (part.kind()) {
                        case MYSQL, MARIADB -> "drop index ix_capacity_change_name on capacity_change";
                        case POSTGRESQL, H2 -> "drop index ix_capacity_change_name";
                    });
            jdbc.execute("alter table semaphore drop constraint ck_semaphore_capacity");
            assertThat(describe(part)).isNotEqualTo(describe(whole));
            jdbc.execute("drop table semaphore_share");

            runScript(part);

            assertThat(describe(part)).isEqualTo(describe(whole));
        }
    }

    @Test
    void createsAllThatAnEngineNeeds() {
        try (TestDatabase.Schema schema = TestDatabase.create()) {
            runScript(schema);

            try (HikariDataSource pool = schema.newPool(4)) {
                assertThatCode(() -> new SemaphoreEngine(pool, TestSettings.defaults()).close())
                        .doesNotThrowAnyException();
            }
        }
    }

    private static void runScript(TestDatabase.Schema schema) {
        runScript(schema, "");
    }

    private static void runScript(TestDatabase.Schema schema, String prefix) {
        ResourceDatabasePopulator populator =
                new ResourceDatabasePopulator(new ByteArrayResource(script(schema.kind(), prefix)));
        populator.setSqlScriptEncoding(StandardCharsets.UTF_8.name());
        try (HikariDataSource pool = schema.newPool(1)) {
            populator.execute(pool);
        }
    }

    private static byte[] script(DatabaseKind kind, String prefix) {
        try {
            String script =
                    new ClassPathResource(ChangelogScript.location(kind)).getContentAsString(StandardCharsets.UTF_8);
            return Sql.withPrefix(script, prefix).getBytes(StandardCharsets.UTF_8);
        } catch (IOException unreadable) {
            throw new UncheckedIOException(unreadable);
        }
    }

    private static List<String> describe(TestDatabase.Schema schema) {
        return describe(schema, "");
    }

    /** Tables with their columns, constraints and indexes, as the database itself describes them. */
    private static List<String> describe(TestDatabase.Schema schema, String prefix) {
        JdbcTemplate jdbc = schema.jdbc();
        return switch (schema.kind()) {
            case MYSQL, MARIADB ->
                TABLES.stream()
                        .map(table -> (String) jdbc.queryForMap("show create table " + prefix + table)
                                .get("Create Table"))
                        .toList();
            case POSTGRESQL ->
                Stream.of("""
                                select concat_ws(' ', table_name,
                                  row_number() over (partition by table_name order by ordinal_position), column_name, data_type, character_maximum_length,
                                  datetime_precision, is_nullable, column_default, collation_name)
                                from information_schema.columns where table_schema = 'public'
                                  and table_name not like 'databasechangelog%' order by table_name, ordinal_position""", """
                                select concat_ws(' ', conrelid::regclass, conname, pg_get_constraintdef(oid)) from pg_constraint
                                where connamespace = 'public'::regnamespace and conrelid::regclass::text
                                  not like 'databasechangelog%' order by 1""", """
                                select indexdef from pg_indexes where schemaname = 'public'
                                  and tablename not like 'databasechangelog%' order by 1""")
                        .flatMap(query -> jdbc.queryForList(query, String.class).stream())
                        .toList();
            case H2 ->
                jdbc.queryForList("script nodata nopasswords nosettings", String.class).stream()
                        .filter(statement -> !statement.contains("DATABASECHANGELOG") && !statement.startsWith("-- "))
                        .sorted() // constraints are in the order in which they were made
                        .toList();
        };
    }
}
