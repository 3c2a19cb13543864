package io.dbsemaphore.persistence;

import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import com.zaxxer.hikari.HikariDataSource;
import io.dbsemaphore.AcquireRequest;
import io.dbsemaphore.PermitGrant;
import io.dbsemaphore.ReleaseOutcome;
import io.dbsemaphore.SemaphoreTemplate;
import io.dbsemaphore.config.SemaphoreSettings;
import io.dbsemaphore.engine.SemaphoreEngine;
import io.dbsemaphore.engine.SemaphoreTableMismatchException;
import io.dbsemaphore.testing.TestDatabase;
import io.dbsemaphore.testing.TestSettings;
import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The prefix of the table names: when it is needed, and how it is introduced. */
class TablePrefixIntegrationTests {

    private static final String PREFIX = "app_";

    private TestDatabase.Schema database;

    @BeforeEach
    void migrate() {
        database = TestDatabase.create().runChangelog(Map.of());
    }

    @AfterEach
    void drop() {
        database.close();
    }

    @Test
    void isIntroducedAsDocumented() throws IOException {
        AcquireRequest request =
                AcquireRequest.of("backup").withExternalId("before").withoutTtl();
        PermitGrant before;
        try (HikariDataSource pool = database.newPool(4);
                SemaphoreEngine engine = new SemaphoreEngine(pool, withPrefix(""))) {
            engine.admin().create("backup", 1);
            before = new SemaphoreTemplate(engine.permitManager()).acquire(request);
        }
        List<String> changeSets = changeSets();

        documentedRenaming().forEach(statement -> database.jdbc().execute(statement));

        database.runChangelog(Map.of("dbsemaphore.tablePrefix", PREFIX));
        assertThat(changeSets()).isEqualTo(changeSets);
        try (HikariDataSource pool = database.newPool(4);
                SemaphoreEngine engine = new SemaphoreEngine(pool, withPrefix(PREFIX))) {
            SemaphoreTemplate semaphores = new SemaphoreTemplate(engine.permitManager());
            assertThat(semaphores.acquire(request).fencingToken()).isEqualTo(before.fencingToken());
            assertThat(semaphores.tryAcquire(AcquireRequest.of("backup"))).isEmpty();
            assertThat(semaphores.release("before")).isEqualTo(ReleaseOutcome.RELEASED);
            assertThat(semaphores.tryAcquire(AcquireRequest.of("backup"))).isPresent();
        }
    }

    @Test
    void isSuggestedWhereATableBelongsToAnotherApplication() {
        database.jdbc().execute("drop table permit");
        database.jdbc().execute("create table permit (id bigint primary key, building varchar(100))");

        try (HikariDataSource pool = database.newPool(4)) {
            assertThatExceptionOfType(SemaphoreTableMismatchException.class)
                    .isThrownBy(() -> new SemaphoreEngine(pool, withPrefix("")))
                    .satisfies(mismatch -> {
                        assertThat(mismatch.table()).isEqualTo("permit");
                        assertThat(mismatch.isForeign()).isTrue();
                        assertThat(mismatch.missingColumns())
                                .contains("semaphore_id", "token")
                                .doesNotContain("id");
                    })
                    .withMessageContaining("semaphore.jdbc.table-prefix");
        }
    }

    @Test
    void isNotSuggestedForTablesOfAnOlderVersion() {
        database.jdbc().execute("alter table capacity_change drop column permits");

        try (HikariDataSource pool = database.newPool(4)) {
            assertThatExceptionOfType(SemaphoreTableMismatchException.class)
                    .isThrownBy(() -> new SemaphoreEngine(pool, withPrefix("")))
                    .satisfies(mismatch -> {
                        assertThat(mismatch.isForeign()).isFalse();
                        assertThat(mismatch.missingColumns()).containsExactly("permits");
                    });
        }
    }

    private List<String> changeSets() {
        return database.jdbc().queryForList("select ID from DATABASECHANGELOG order by ORDEREXECUTED", String.class);
    }

    private static SemaphoreSettings withPrefix(String prefix) {
        return TestSettings.defaults().with(SemaphoreSettings.TABLE_PREFIX, prefix);
    }

    private static List<String> documentedRenaming() throws IOException {
        Path file = Path.of(System.getProperty("basedir", "")).toAbsolutePath().resolveSibling("docs/operations.md");
        String operations = Files.readString(file);
        int begin = operations.indexOf("alter table semaphore rename to");
        assertThat(begin).isPositive();
        return Stream.of(operations
                        .substring(begin, operations.indexOf("```", begin))
                        .split(";\n"))
                .map(String::strip)
                .filter(statement -> !statement.isEmpty())
                .toList();
    }
}
