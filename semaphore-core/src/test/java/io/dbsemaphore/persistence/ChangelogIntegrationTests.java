package io.dbsemaphore.persistence;

import static io.dbsemaphore.persistence.TableRows.NOW;
import static io.dbsemaphore.persistence.TableRows.assertRefused;
import static org.assertj.core.api.Assertions.assertThat;
import static org.assertj.core.api.Assertions.assertThatCode;
import static org.assertj.core.api.Assertions.assertThatExceptionOfType;

import io.dbsemaphore.testing.DatabaseKind;
import io.dbsemaphore.testing.TestDatabase;
import java.time.LocalDateTime;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.springframework.dao.DataAccessException;
import org.springframework.dao.DuplicateKeyException;

/** The changelog creates the tables with the properties that the library relies on, on every database. */
class ChangelogIntegrationTests {

    private static TestDatabase.Schema database;
    private static TableRows rows;

    @BeforeAll
    static void migrate() {
        database = TestDatabase.create().runChangelog(Map.of());
        rows = new TableRows(database);
    }

    @AfterAll
    static void close() {
        database.close();
    }

    @Test
    void runsAgainWithoutChangingAnything() {
        rows.insertSemaphore("kept", 3);
        List<Map<String, Object>> before = changeSets();

        database.runChangelog(Map.of());

        assertThat(changeSets()).isEqualTo(before).isNotEmpty();
        assertThat(capacityOf("kept")).isEqualTo(3);
    }

    @Test
    void prefixesEveryTable() {
        try (TestDatabase.Schema prefixed = TestDatabase.create()) {
            prefixed.runChangelog(Map.of("dbsemaphore.tablePrefix", "app_"));

            for (String table :
                    List.of("semaphore", "permit_request", "permit", "capacity_change", "semaphore_share")) {
                assertThat(prefixed.jdbc().queryForList("select * from app_" + table))
                        .isEmpty();
                assertThatCode(() -> prefixed.jdbc().queryForList("select * from " + table))
                        .isInstanceOf(DataAccessException.class);
            }
            assertRefused(
                    "app_ck_semaphore_capacity",
                    () -> prefixed.jdbc()
                            .update(
                                    "insert into app_semaphore (id, name, capacity, fence, created_at, updated_at)"
                                            + " values (1, 'x', -1, 0, ?, ?)",
                                    NOW,
                                    NOW));
        }
    }

    /** An environment variable is a parameter of each changelog, too, and the property of a host's changelog is one by default. */
    @Test
    void usesNoParameterOfTheHost() {
        List<Map<String, Object>> checksums = changeSets();
        try (TestDatabase.Schema hosted = TestDatabase.create()) {
            hosted.runChangelog(Map.of("key", "char(3)", "state", "int", "text", "int", "instant", "date"));
            database.runChangelog(Map.of("key", "char(3)", "state", "int", "text", "int", "instant", "date"));

            assertThatCode(() -> new TableRows(hosted).insertSemaphore("longer than three", 1))
                    .doesNotThrowAnyException();
        }
        assertThat(changeSets()).isEqualTo(checksums);
    }

    @Test
    void standsBesideTheSameTablesWithAnotherPrefix() {
        try (TestDatabase.Schema prefixed = TestDatabase.create()) {
            prefixed.runChangelog(Map.of("dbsemaphore.tablePrefix", "one_"));
            // Liquibase identifies a change set by its id and file: a second prefix needs a second history.
            prefixed.jdbc().execute("drop table DATABASECHANGELOG");

            prefixed.runChangelog(Map.of("dbsemaphore.tablePrefix", "two_"));

            assertThat(prefixed.jdbc().queryForList("select * from one_permit")).isEmpty();
            assertThat(prefixed.jdbc().queryForList("select * from two_permit")).isEmpty();
        }
    }

    @ParameterizedTest
    @CsvSource({"Backup, backup", "e, é", "😀, 😁", "ß, ss", "ﬁ, fi"})
    void namesAreComparedByteForByte(String one, String other) {
        rows.insertSemaphore(one, 1);
        rows.insertSemaphore(other, 2);

        assertThat(capacityOf(one)).isEqualTo(1);
        assertThat(capacityOf(other)).isEqualTo(2);
        assertThatExceptionOfType(DuplicateKeyException.class).isThrownBy(() -> rows.insertSemaphore(one, 3));
    }

    @Test
    void trailingSpacesMakeAnotherName() {
        rows.insertSemaphore("pad", 1);

        assertThatCode(() -> rows.insertSemaphore("pad ", 2)).doesNotThrowAnyException();
    }

    @ParameterizedTest
    @CsvSource({"b, 190", "€, 190", "😀, 95"})
    void sharesAreComparedByteForByteAndMayHave190Characters(String character, int times) {
        rows.insertShare(1, character.repeat(times));
        List.of("*", "acme/", "ACME/", "e/", "é/", "ß/", "ss/", "pad", "pad ", "😀/", "😁/")
                .forEach(path -> rows.insertShare(times + character.codePointAt(0), path));

        assertThatExceptionOfType(DuplicateKeyException.class)
                .isThrownBy(() -> rows.insertShare(1, character.repeat(times)));
    }

    @Test
    void waitingCallersWithSharesMayHave4000Characters() {
        String shares = "€".repeat(4_000);
        database.jdbc().update("""
                insert into semaphore_waiter (semaphore_id, instance, owner, since, waiting, first_waiters, waiters,
                    shares, expires_at) values (1, 1, ?, ?, 1, ?, ?, ?, ?)""", "€".repeat(190), NOW, "€".repeat(1_000), "€".repeat(1_000), shares, NOW);

        assertThat(database.jdbc().queryForObject("select shares from semaphore_waiter", String.class))
                .isEqualTo(shares);
    }

    @Test
    void externalIdsAreComparedByteForByte() {
        rows.insertRequest("Job", "ACQUIRED", 1000L);
        rows.insertRequest("job", "ACQUIRED", 1000L);

        assertThatExceptionOfType(DuplicateKeyException.class)
                .isThrownBy(() -> rows.insertRequest("job", "RELEASED", 1000L));
    }

    @ParameterizedTest
    @CsvSource({"b, 190", "€, 190", "😀, 95"})
    void namesMayHave190Characters(String character, int times) {
        String name = character.repeat(times);

        rows.insertSemaphore(name, 7);

        assertThat(capacityOf(name)).isEqualTo(7);
    }

    @Test
    void instantsKeepTheirMicrosecondsBeyond2038() {
        rows.insertSemaphore("instant", 1);

        assertThat(database.jdbc()
                        .queryForObject("select created_at from semaphore where name = 'instant'", LocalDateTime.class))
                .isEqualTo(NOW);
    }

    @Test
    void keysHaveABinaryCollationOnMySql() {
        TestDatabase.assumeKind(DatabaseKind.MYSQL);

        for (String column : List.of(
                "semaphore.name",
                "permit_request.external_id",
                "permit_request.owner",
                "capacity_change.semaphore_name",
                "semaphore_share.share_path",
                "semaphore_waiter.shares")) {
            assertThat(columnOnMySql("collation_name", column)).as(column).isEqualTo("utf8mb4_0900_bin");
        }
    }

    @Test
    void keysHaveABinaryCollationOnMariaDb() {
        TestDatabase.assumeKind(DatabaseKind.MARIADB);

        assertThat(columnOnMySql("collation_name", "semaphore.name")).isEqualTo("utf8mb4_nopad_bin");
        assertThat(columnOnMySql("collation_name", "permit_request.external_id"))
                .isEqualTo("utf8mb4_nopad_bin");
        assertThat(columnOnMySql("collation_name", "semaphore_share.share_path"))
                .isEqualTo("utf8mb4_nopad_bin");
        assertThat(columnOnMySql("collation_name", "semaphore_waiter.shares")).isEqualTo("utf8mb4_nopad_bin");
    }

    @Test
    void instantsAreDatetimesOnMySql() {
        TestDatabase.assumeKind(DatabaseKind.MYSQL, DatabaseKind.MARIADB);

        for (String column : List.of(
                "semaphore.created_at",
                "semaphore.updated_at",
                "permit_request.expires_at",
                "permit_request.renewed_at",
                "permit_request.created_at",
                "permit_request.updated_at",
                "capacity_change.changed_at",
                "semaphore_share.updated_at")) {
            assertThat(columnOnMySql("column_type", column)).as(column).isEqualTo("datetime(6)");
        }
    }

    @Test
    void tablesAreTransactionalOnMySql() {
        TestDatabase.assumeKind(DatabaseKind.MYSQL, DatabaseKind.MARIADB);

        assertThat(database.jdbc()
                        .queryForList(
                                "select engine from information_schema.tables where table_schema = ? and table_name in"
                                        + " ('semaphore', 'permit_request', 'permit', 'capacity_change', 'semaphore_share')",
                                String.class,
                                database.name()))
                .containsExactly("InnoDB", "InnoDB", "InnoDB", "InnoDB", "InnoDB");
    }

    @Test
    void heldPermitsAreSummedFromAnIndexAlone() {
        TestDatabase.assumeKind(DatabaseKind.MYSQL, DatabaseKind.MARIADB);

        assertThat(database.jdbc()
                        .queryForList(
                                "select column_name from information_schema.statistics where table_schema = ?"
                                        + " and table_name = 'permit' and index_name = 'ix_permit_held'"
                                        + " order by seq_in_index",
                                String.class,
                                database.name()))
                .startsWith("semaphore_id", "state")
                .contains("count", "exclusive", "token");
        String explain = database.kind() == DatabaseKind.MYSQL ? "explain format=tree " : "explain ";
        String plan = database.jdbc().queryForList(explain + """
                        select s.id, coalesce(sum(p.count), 0), coalesce(max(p.exclusive), 0)
                        from semaphore s left join permit p on p.semaphore_id = s.id and p.state = 'ACQUIRED'
                        where s.id in (1, 2) group by s.id""").toString();
        assertThat(plan)
                .containsPattern("Covering index lookup on p using ix_permit_held|ix_permit_held.*Using index(?! c)");
    }

    private static Object columnOnMySql(String property, String column) {
        String[] parts = column.split("\\.", -1);
        return database.jdbc()
                .queryForObject(
                        "select " + property + " from information_schema.columns"
                                + " where table_schema = ? and table_name = ? and column_name = ?",
                        String.class,
                        database.name(),
                        parts[0],
                        parts[1]);
    }

    private static List<Map<String, Object>> changeSets() {
        return database.jdbc().queryForList("select * from DATABASECHANGELOG order by orderexecuted");
    }

    private static int capacityOf(String name) {
        return database.jdbc().queryForObject("select capacity from semaphore where name = ?", Integer.class, name);
    }
}
